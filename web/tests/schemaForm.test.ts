import { describe, expect, it } from "vitest";
import {
  emptyOf,
  fieldsOf,
  payloadFrom,
  placeErrors,
  takesNothing,
  valuesFrom,
  type FieldSpec,
} from "@/services/schemaForm";

const SCHEMA = {
  $defs: {
    Size: {
      type: "object",
      properties: {
        width: { type: "integer", minimum: 1 },
        height: { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
      },
      required: ["width"],
    },
  },
  type: "object",
  properties: {
    path: { type: "string", title: "Path", description: "Where it lies." },
    mode: { enum: ["fit", "fill"], default: "fit" },
    size: { $ref: "#/$defs/Size" },
    tags: { type: "array", items: { type: "string" } },
    scores: { type: "array", items: { type: "number" } },
    draft: { type: "boolean", default: true },
    ratio: { type: "number" },
    extra: { type: "object", additionalProperties: true },
  },
  required: ["path", "size"],
};

function fields(): FieldSpec[] {
  return fieldsOf(SCHEMA) ?? [];
}

describe("a form out of a schema", () => {
  it("finds a fitting control for each field", () => {
    expect(fields().map((field) => [field.path, field.kind])).toEqual([
      ["path", "text"],
      ["mode", "choice"],
      ["size", "group"],
      ["tags", "list"],
      ["scores", "list"],
      ["draft", "boolean"],
      ["ratio", "number"],
      ["extra", "json"],
    ]);
    expect(fields()[2]?.fields.map((field) => [field.path, field.kind, field.required])).toEqual([
      ["size.width", "integer", true],
      ["size.height", "integer", false],
    ]);
  });

  it("leaves to JSON what has no named fields", () => {
    expect(fieldsOf({ type: "string" })).toBeNull();
    expect(fieldsOf(null)).toBeNull();
  });

  it("begins with the defaults", () => {
    expect(valuesFrom(fields(), {})).toMatchObject({ path: "", mode: '"fit"', draft: true, tags: "" });
  });

  it("gives back the payload it was filled with", () => {
    const payload = {
      path: "boat.jpg",
      mode: "fill",
      size: { width: 800 },
      tags: ["a", "b"],
      scores: [1, 2.5],
      draft: false,
      ratio: 1.5,
      extra: { x: [1] },
    };
    expect(payloadFrom(fields(), valuesFrom(fields(), payload))).toEqual({ payload, errors: {} });
  });

  it("leaves out empty fields that are optional", () => {
    const { payload } = payloadFrom(fields(), { ...valuesFrom(fields(), {}), "size.width": "3", mode: "" });
    expect(payload).toEqual({ path: "", size: { width: 3 }, draft: true });
  });

  it("says at the field what cannot be right", () => {
    const { errors } = payloadFrom(fields(), {
      ...valuesFrom(fields(), {}),
      "size.width": "2.5",
      ratio: "much",
      scores: "1\ntwo",
      extra: "{",
    });
    expect(Object.keys(errors).sort()).toEqual(["extra", "ratio", "scores", "size.width"]);
    expect(payloadFrom(fields(), valuesFrom(fields(), {})).errors["size.width"]).toBe("This is needed.");
  });

  it("says that a text is needed before it speaks of its form", () => {
    const named = fieldsOf({
      properties: { code: { type: "string", pattern: "^[a-z]+$" }, note: { type: "string", pattern: "^.*$" } },
      required: ["code", "note"],
    });
    const { payload, errors } = payloadFrom(named ?? [], { code: "", note: "" });
    expect(errors).toEqual({ code: "This is needed." });
    expect(payload).toEqual({ note: "" });
    const [code] = named ?? [];
    expect(code?.pattern).toBe("^[a-z]+$");
    expect(placeErrors(named ?? [], [{ path: "payload.code", message: "String should match pattern '^[a-z]+$'" }])).toEqual({
      code: "This does not have the form that is asked for: ^[a-z]+$",
    });
  });

  it("leaves expressions that only the server understands to the server", () => {
    const [field] = fieldsOf({ properties: { code: { type: "string", pattern: "(?P<x>a)" } }, required: ["code"] }) ?? [];
    expect(field?.filled).toBe(false);
  });

  it("knows an operation that takes nothing, and what JSON of a kind begins with", () => {
    expect([takesNothing({ type: "null" }), takesNothing(null), takesNothing({ type: "string" })]).toEqual([
      true,
      false,
      false,
    ]);
    expect([{ type: "string" }, { type: "array" }, { type: "integer" }, null].map(emptyOf)).toEqual(["", [], null, null]);
  });

  it("puts the server's complaints where they belong", () => {
    const placed = placeErrors(fields(), [
      { path: "payload.size.width", message: "must be at least 1" },
      { path: "payload.tags.0", message: "is too long" },
      { path: "operation", message: "is not public" },
    ]);
    expect(placed).toEqual({ "size.width": "must be at least 1", tags: "is too long", "": "operation: is not public" });
  });
});
