// @vitest-environment happy-dom
import { mount } from "@vue/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import FilterBar from "@/components/ui/FilterBar.vue";
import PausedInput from "@/components/ui/PausedInput.vue";
import { useNewPassword } from "@/composables/useNewPassword";
import { useSubmit } from "@/composables/useSubmit";
import { Problem } from "@/services/problem";

describe("a form that is sent", () => {
  const wrong = new Problem({ status: 422, detail: "no", errors: [{ path: "body.url", message: "not an address" }] });

  it("is busy until it is done, and is not sent twice", async () => {
    const { busy, submit } = useSubmit();
    let finish = (): void => undefined;
    const sent = submit(() => new Promise<void>((resolve) => (finish = resolve)));
    expect(busy.value).toBe(true);
    expect(await submit(() => Promise.reject(new Error("never begun")))).toBe(false);
    finish();
    expect(await sent).toBe(true);
    expect(busy.value).toBe(false);
  });

  it("says what went wrong, and about which field, until it is sent again", async () => {
    const { problem, submit, about } = useSubmit();
    expect(await submit(() => Promise.reject(wrong))).toBe(false);
    expect([problem.value?.detail, about("url"), about("states")]).toEqual(["no", "not an address", null]);
    expect(await submit(() => Promise.resolve())).toBe(true);
    expect(problem.value).toBeNull();
  });

  it("leaves to others what they show themselves", async () => {
    const { problem, submit } = useSubmit((found) => found.errors.length > 0);
    await submit(() => Promise.reject(wrong));
    expect(problem.value).toBeNull();
    await submit(() => Promise.reject(new Error("other")));
    expect(problem.value?.detail).toBe("other");
  });
});

describe("a filter", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const bar = (chosen: string[], text = "") =>
    mount(FilterBar, {
      props: {
        label: "Filter",
        choices: ["a", "b", "c"],
        choicesLabel: "State",
        searchLabel: "Search",
        placeholder: "Search",
        filtered: chosen.length > 0,
        chosen,
        text,
      },
      slots: { choice: ({ choice }: { choice: string }) => choice },
    });

  it("adds and takes away choices, in their own order", async () => {
    const shown = bar(["c"]);
    const [first, , last] = shown.findAll("button.toggle");
    expect(last?.attributes("aria-pressed")).toBe("true");
    await first?.trigger("click");
    await last?.trigger("click");
    expect(shown.emitted("update:chosen")).toEqual([[["a", "c"]], [["a"]]]);
  });

  it("offers to be cleared only when it leaves something out", async () => {
    expect(bar([]).text()).not.toContain("Clear");
    const shown = bar(["a"]);
    await shown.findAll("button").at(-1)?.trigger("click");
    expect(shown.emitted("clear")).toHaveLength(1);
  });

  it("waits for a pause in typing", async () => {
    const shown = bar([]);
    await shown.find("input").setValue(" ta");
    await shown.find("input").setValue(" talk ");
    vi.advanceTimersByTime(249);
    expect(shown.emitted("update:text")).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(shown.emitted("update:text")).toEqual([["talk"]]);
  });

  it("does not take from somebody who types on what comes back meanwhile, and shows what was decided elsewhere", async () => {
    const shown = mount(PausedInput, { props: { modelValue: "" } });
    const field = shown.find("input");
    await field.setValue("two");
    vi.advanceTimersByTime(250);
    await field.setValue("two words");
    await shown.setProps({ modelValue: "two" });
    expect(field.element.value).toBe("two words");
    vi.advanceTimersByTime(250);
    expect(shown.emitted("update:modelValue")).toEqual([["two"], ["two words"]]);
    await shown.setProps({ modelValue: "two words" });
    await shown.setProps({ modelValue: "" });
    expect(field.element.value).toBe("");
  });
});

describe("a password that is typed twice", () => {
  it("differs only once there is a second one that is not the first", () => {
    const { password, again, differs, clear } = useNewPassword();
    password.value = "a few unrelated words";
    expect(differs.value).toBe(false);
    again.value = "a few";
    expect(differs.value).toBe(true);
    again.value = password.value;
    expect(differs.value).toBe(false);
    clear();
    expect([password.value, again.value]).toEqual(["", ""]);
  });
});
