// @vitest-environment happy-dom
import { mount } from "@vue/test-utils";
import { describe, expect, it } from "vitest";
import { firstMistake } from "@/components/json/checker";
import { parseJson, pathOf, summary } from "@/components/json/json";
import JsonTree from "@/components/json/JsonTree.vue";

describe("a value in one line", () => {
  it.each([
    [null, "null"],
    ["a\nb", '"a\\nb"'],
    [[1, 2, [3]], "[1, 2, [1]]"],
    [{ a: 1, b: {}, c: { d: 1 } }, "{a: 1, b: {}, c: {…}}"],
  ])("%j reads %s", (value, words) => expect(summary(value)).toBe(words));

  it("stays short", () => {
    expect(summary(Array.from({ length: 1000 }, (_, index) => index)).length).toBeLessThan(80);
    expect(summary({ text: "x".repeat(1000) }).length).toBeLessThan(80);
  });

  it("has a place that code can name", () => {
    expect([pathOf("", "items", false), pathOf("items", "0", true), pathOf("items[0]", "odd name", false)]).toEqual([
      "items",
      "items[0]",
      'items[0]["odd name"]',
    ]);
  });
});

describe("typed JSON", () => {
  it("is a value when it is right", () => expect(parseJson('{"a": [1]}')).toEqual({ ok: true, value: { a: [1] } }));

  it.each([
    ['{\n  "a": 1,\n  "b": oops\n}', 3, 8, "A value is expected"],
    ['{"a": 1,}', 1, 9, "A name in double quotes"],
    ["{'a': 1}", 1, 2, "A name in double quotes"],
    ['{"a" 1}', 1, 6, "A colon"],
    ["[1 2]", 1, 4, "A comma or ]"],
    ['{"a": [1, 2', 1, 12, "ends too early"],
    ['{"a": "b\n"}', 1, 7, "not closed"],
    ['{"a": "b', 1, 7, "not closed"],
    ["1 2", 1, 3, "Nothing more"],
    ["", 1, 1, "ends too early"],
    ["01", 1, 2, "Nothing more"],
  ])("%j is wrong at line %i, column %i", (text, line, column, message) => {
    const parsed = parseJson(text);
    expect(parsed).toMatchObject({ ok: false, mistake: { line, column } });
    expect(parsed.ok ? "" : parsed.mistake.message).toContain(message);
  });

  it.each(["null", "-0.5e+10", '"\\u00e9\\n"', "[]", '{"a":{"b":[true,false,null]}}', " [1 , 2] \n"])(
    "%s is right",
    (text) => {
      expect(firstMistake(text)).toBeNull();
      expect(parseJson(text).ok).toBe(true);
    },
  );
});

describe("the tree", () => {
  const tree = (value: unknown) => mount(JsonTree, { props: { value, name: "payload" } });

  it("opens what is near and keeps the rest folded", async () => {
    const shown = tree({ near: { far: { farther: "deep" } } });
    const names = (): string[] => shown.findAll(".name").map((name) => name.text());
    expect(names()).toEqual(["near", "far"]);
    await shown.findAll("button[aria-expanded=false]")[0]?.trigger("click");
    expect(names()).toEqual(["near", "far", "farther"]);
  });

  it("counts what is in a branch", () => {
    expect(tree({ only: 1 }).find(".size").text()).toBe("1 field");
    expect(tree([1, 2]).find(".size").text()).toBe("2 items");
  });

  it("shows markup as text", () => {
    const shown = tree({ "<b>key</b>": '<img src=x onerror="alert(1)">' });
    expect(shown.find("img").exists()).toBe(false);
    expect(shown.find("b").exists()).toBe(false);
    expect(shown.text()).toContain("<b>key</b>");
    expect(shown.text()).toContain("<img src=x");
  });

  it("renders a long list in parts", async () => {
    const shown = tree(Array.from({ length: 5000 }, (_, index) => index));
    await shown.find("button[aria-expanded=false]").trigger("click");
    expect(shown.findAll("li.node").length).toBeLessThan(150);
    await shown.find("button.more").trigger("click");
    expect(shown.findAll("li.node").length).toBeGreaterThan(500);
  });

  it("cuts a long text and gives all of it when asked", async () => {
    const shown = tree("x".repeat(5000));
    expect(shown.text().length).toBeLessThan(1000);
    await shown.findAll("button").at(-1)?.trigger("click");
    expect(shown.text()).toContain("x".repeat(5000));
  });
});
