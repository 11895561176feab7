/**
 * A form out of a JSON schema, for the shapes people give to payloads: texts, numbers, choices, switches, lists and groups
 * of these. What a form cannot show becomes a field of JSON, so that nothing is out of reach.
 */

export type JsonSchema = Record<string, unknown>;
export type FieldKind = "text" | "long" | "integer" | "number" | "boolean" | "choice" | "list" | "json" | "group";

export interface FieldSpec {
  path: string;
  label: string;
  hint: string | null;
  kind: FieldKind;
  required: boolean;
  choices: unknown[];
  fallback: unknown;
  min: number | null;
  max: number | null;
  /** A text must have this form; the server judges it, for its expressions are not the browser's. */
  pattern: string | null;
  /** A text of no length will not do. */
  filled: boolean;
  /** What a list holds. */
  item: "text" | "number";
  fields: FieldSpec[];
}

/** What was typed, by path: texts as they stand in the fields, switches as booleans. */
export type FormValues = Record<string, string | boolean>;

const MOST_NESTED = 4;

/** Null when the payload is not an object with named fields: then only JSON makes sense. */
export function fieldsOf(schema: JsonSchema | null | undefined): FieldSpec[] | null {
  if (!schema) return null;
  const root = resolve(schema, schema);
  if (!isObject(root.properties)) return null;
  return propertiesOf(root, schema, "", 0);
}

function propertiesOf(schema: JsonSchema, root: JsonSchema, prefix: string, depth: number): FieldSpec[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, property]) =>
    fieldOf(name, property, root, prefix, required.has(name), depth),
  );
}

function fieldOf(
  name: string,
  given: JsonSchema,
  root: JsonSchema,
  prefix: string,
  required: boolean,
  depth: number,
): FieldSpec {
  const schema = { ...resolve(given, root) };
  const path = prefix ? `${prefix}.${name}` : name;
  const field: FieldSpec = {
    path,
    label: typeof schema.title === "string" ? schema.title : name,
    hint: typeof schema.description === "string" ? schema.description : null,
    kind: kindOf(schema, root, depth),
    required,
    choices: choicesOf(schema),
    fallback: given.default ?? schema.default,
    min: numberOr(schema.minimum ?? schema.exclusiveMinimum),
    max: numberOr(schema.maximum ?? schema.exclusiveMaximum),
    pattern: typeof schema.pattern === "string" ? schema.pattern : null,
    filled: Number(schema.minLength ?? 0) > 0 || refusesNothing(schema.pattern),
    item: "text",
    fields: [],
  };
  if (field.kind === "group") field.fields = propertiesOf(schema, root, path, depth + 1);
  if (field.kind === "list") field.item = isNumeric(resolve(schema.items as JsonSchema, root)) ? "number" : "text";
  return field;
}

/** Whether an empty text cannot have this form. An expression that only the server understands is left to it. */
function refusesNothing(pattern: unknown): boolean {
  if (typeof pattern !== "string") return false;
  try {
    return !new RegExp(pattern, "u").test("");
  } catch {
    return false;
  }
}

/** Whether the schema allows nothing at all: an operation that takes no payload. */
export function takesNothing(schema: JsonSchema | null | undefined): boolean {
  return schema?.type === "null";
}

/** What JSON begins with where there is no form: empty, but of the right kind. */
export function emptyOf(schema: JsonSchema | null | undefined): unknown {
  const starts: Record<string, unknown> = { string: "", array: [], object: {}, boolean: false };
  return starts[String(schema?.type)] ?? null;
}

/** Follows references, and takes "this or null" for an optional "this". */
function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let found = schema;
  for (let hops = 0; hops < 8; hops += 1) {
    const options = [found.anyOf, found.oneOf, found.allOf].find(Array.isArray) as JsonSchema[] | undefined;
    const real = options?.filter((option) => option.type !== "null");
    if (typeof found.$ref === "string") found = { ...lookUp(found.$ref, root), ...without(found, "$ref") };
    else if (real?.length === 1 && real[0]) found = { ...real[0], ...without(found, "anyOf", "oneOf", "allOf") };
    else return found;
  }
  return found;
}

function lookUp(reference: string, root: JsonSchema): JsonSchema {
  let place: unknown = root;
  for (const part of reference.replace(/^#\//, "").split("/")) place = isObject(place) ? place[part] : undefined;
  return isObject(place) ? place : {};
}

function without(schema: JsonSchema, ...names: string[]): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)));
}

function kindOf(schema: JsonSchema, root: JsonSchema, depth: number): FieldKind {
  if (choicesOf(schema).length) return "choice";
  switch (schema.type) {
    case "string":
      return Number(schema.maxLength ?? 0) > 300 || schema.format === "textarea" ? "long" : "text";
    case "integer":
    case "number":
    case "boolean":
      return schema.type;
    case "array":
      return isObject(schema.items) && isScalar(resolve(schema.items, root)) ? "list" : "json";
    case "object":
      return isObject(schema.properties) && depth < MOST_NESTED ? "group" : "json";
    default:
      return "json";
  }
}

function choicesOf(schema: JsonSchema): unknown[] {
  if (Array.isArray(schema.enum)) return schema.enum;
  return "const" in schema ? [schema.const] : [];
}

function isScalar(schema: JsonSchema): boolean {
  return schema.type === "string" || isNumeric(schema);
}

function isNumeric(schema: JsonSchema): boolean {
  return schema.type === "integer" || schema.type === "number";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function numberOr(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** The fields filled with a payload, or with the schema's own defaults. */
export function valuesFrom(fields: readonly FieldSpec[], payload: unknown): FormValues {
  const values: FormValues = {};
  for (const field of fields) {
    const given = valueAt(payload, field.path) ?? field.fallback;
    if (field.kind === "group") Object.assign(values, valuesFrom(field.fields, payload));
    else if (field.kind === "boolean") values[field.path] = given === true;
    else values[field.path] = asTyped(field, given);
  }
  return values;
}

function valueAt(payload: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((place, part) => (isObject(place) ? place[part] : undefined), payload);
}

function asTyped(field: FieldSpec, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (field.kind === "list" && Array.isArray(value)) return value.map(String).join("\n");
  if (field.kind === "json") return JSON.stringify(value, null, 2);
  if (field.kind === "choice") return JSON.stringify(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export interface Built {
  payload: Record<string, unknown>;
  errors: Record<string, string>;
}

/** The payload the fields describe, and what in them cannot be one. Empty optional fields are left out. */
export function payloadFrom(fields: readonly FieldSpec[], values: FormValues): Built {
  const built: Built = { payload: {}, errors: {} };
  for (const field of fields) {
    const name = field.path.split(".").pop() ?? field.path;
    if (field.kind === "group") {
      const inner = payloadFrom(field.fields, values);
      Object.assign(built.errors, inner.errors);
      if (field.required || Object.keys(inner.payload).length) built.payload[name] = inner.payload;
      continue;
    }
    const read = readField(field, values[field.path] ?? "");
    if (read.error) built.errors[field.path] = read.error;
    else if (read.value !== undefined) built.payload[name] = read.value;
  }
  return built;
}

function readField(field: FieldSpec, typed: string | boolean): { value?: unknown; error?: string } {
  if (typeof typed === "boolean") return { value: typed };
  const blank = field.kind === "text" || field.kind === "long" ? typed === "" : typed.trim() === "";
  if (blank)
    return field.required && field.fallback === undefined && field.kind !== "text" && field.kind !== "long"
      ? missing(field)
      : blankText(field);
  switch (field.kind) {
    case "integer":
    case "number":
      return readNumber(field, typed);
    case "list":
      return readList(field, typed);
    case "json":
    case "choice":
      return readJson(typed);
    default:
      return { value: typed };
  }
}

function missing(field: FieldSpec): { value?: unknown; error?: string } {
  return field.kind === "list" ? { value: [] } : { error: "This is needed." };
}

/** A required text may be empty, unless its schema says that it must not be. */
function blankText(field: FieldSpec): { value?: unknown; error?: string } {
  if (!field.required || (field.kind !== "text" && field.kind !== "long")) return {};
  return field.filled ? { error: "This is needed." } : { value: "" };
}

function readNumber(field: FieldSpec, typed: string): { value?: unknown; error?: string } {
  const value = Number(typed.trim());
  if (!Number.isFinite(value)) return { error: `“${typed.trim()}” is not a number.` };
  if (field.kind === "integer" && !Number.isInteger(value)) return { error: "A whole number, please." };
  return { value };
}

function readList(field: FieldSpec, typed: string): { value?: unknown; error?: string } {
  const items = typed
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  if (field.item === "text") return { value: items };
  const wrong = items.find((item) => !Number.isFinite(Number(item)));
  return wrong === undefined ? { value: items.map(Number) } : { error: `“${wrong}” is not a number.` };
}

function readJson(typed: string): { value?: unknown; error?: string } {
  try {
    return { value: JSON.parse(typed) as unknown };
  } catch {
    return { error: "This is not valid JSON." };
  }
}

/** The server's complaints at the fields they are about; those about no field here come back under "". */
export function placeErrors(
  fields: readonly FieldSpec[],
  errors: readonly { path: string; message: string }[],
): Record<string, string> {
  const known = allPaths(fields);
  const placed: Record<string, string> = {};
  for (const error of errors) {
    const parts = error.path.replace(/^(body\.)?payload\.?/, "").split(".");
    while (parts.length && !known.has(parts.join("."))) parts.pop();
    const path = parts.join(".");
    const message = inWords(error.message);
    const text = path ? message : [error.path, message].filter(Boolean).join(": ");
    placed[path] = placed[path] ? `${placed[path]} ${text}` : text;
  }
  return placed;
}

/** A regular expression is no sentence; it stands at the end, for those who read it. */
function inWords(message: string): string {
  const [, pattern] = /^String should match pattern '(.*)'$/s.exec(message) ?? [];
  return pattern === undefined ? message : `This does not have the form that is asked for: ${pattern}`;
}

function allPaths(fields: readonly FieldSpec[]): Set<string> {
  return new Set(fields.flatMap((field) => (field.kind === "group" ? [...allPaths(field.fields)] : [field.path])));
}
