// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { effectScope, ref, type EffectScope } from "vue";
import type { Job } from "@/api/types";
import { useFolds, type Folds } from "@/composables/useFolds";
import { heldCount } from "@/stores/jobs";
import { job } from "./rows";

const COUNTS = { total: 2, open: 0, succeeded: 2, partial: 0, failed: 0 };

/** Two children below whoever is asked about, and more of them than are answered. */
async function fetched(request: Request): Promise<Response> {
  const parent = new URL(request.url).pathname.split("/").at(-2) ?? "";
  const body = { items: [job(`${parent}.1`, { parent_id: parent }), job(`${parent}.2`, { parent_id: parent })], next: "x" };
  return new Response(JSON.stringify(body), { headers: { "Content-Type": "application/json" } });
}

describe("jobs that are unfolded", () => {
  const rows = ref<Job[]>([]);
  let scope: EffectScope;
  let folds: Folds;

  beforeEach(() => {
    vi.stubGlobal("fetch", fetched);
    rows.value = [job("b", { children: COUNTS }), job("a")];
    scope = effectScope();
    folds = scope.run(() => useFolds(() => rows.value)) as Folds;
  });
  afterEach(() => {
    scope.stop();
    expect(heldCount()).toBe(0);
    vi.unstubAllGlobals();
  });

  const told = (): string[] =>
    folds.lines.value.map(({ job: { id }, depth, moreOf }) => `${"-".repeat(depth)}${id}${moreOf ? "+" : ""}`);

  it("have their children below them, and say that there are more", async () => {
    expect(told()).toEqual(["b", "a"]);
    folds.toggle(rows.value[0] as Job);
    await vi.waitFor(() => expect(told()).toEqual(["b", "-b.1", "-b.2+", "a"]));
    expect(folds.isOpen("b")).toBe(true);
    folds.toggle(rows.value[0] as Job);
    expect(told()).toEqual(["b", "a"]);
  });

  it("are folded when they leave the list", async () => {
    folds.toggle(rows.value[0] as Job);
    await vi.waitFor(() => expect(told()).toHaveLength(4));
    rows.value = rows.value.slice(1);
    await vi.waitFor(() => expect(folds.isOpen("b")).toBe(false));
    expect(told()).toEqual(["a"]);
  });
});
