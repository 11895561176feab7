// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { effectScope, ref, type EffectScope } from "vue";
import { useChildren, type Children } from "@/composables/useChildren";
import { heldCount } from "@/stores/jobs";
import { flushLive, receive } from "@/stores/live";
import { job, jobMessage } from "./rows";

/** The children that the server knows, and answers that it keeps back until they are released. */
const server = { ids: [] as string[], asked: 0, held: [] as (() => void)[], slow: false };

async function fetched(): Promise<Response> {
  server.asked += 1;
  const body = { items: server.ids.map((id) => job(id)), next: null };
  if (server.slow) await new Promise<void>((resolve) => server.held.push(resolve));
  return new Response(JSON.stringify(body), { headers: { "Content-Type": "application/json" } });
}

describe("the children of a job", () => {
  const total = ref(0);
  let scope: EffectScope;
  const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", fetched);
    Object.assign(server, { ids: [], asked: 0, held: [], slow: false });
    total.value = 0;
    scope = effectScope();
  });
  afterEach(() => {
    scope.stop();
    expect(heldCount()).toBe(0);
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  async function open(): Promise<Children> {
    const children = scope.run(() => useChildren("parent", () => total.value)) as Children;
    await settle();
    return children;
  }

  function make(...ids: string[]): void {
    server.ids.push(...ids);
    total.value = server.ids.length;
  }

  const ids = ({ rows }: Children): string[] => rows.value.map((row) => row.id);

  it("are not asked for where there are none", async () => {
    const children = await open();
    expect([ids(children), server.asked]).toEqual([[], 0]);
  });

  it("come as they are made, one question at a time and none is missed", async () => {
    const children = await open();
    server.slow = true;
    make("a");
    await settle();
    make("b");
    await settle();
    make("c");
    await settle();
    expect(server.asked).toBe(1);
    server.slow = false;
    server.held.forEach((release) => release());
    await settle();
    expect([ids(children), server.asked]).toEqual([["a", "b", "c"], 2]);
  });

  it("are the shared objects, and leave when they are deleted", async () => {
    const children = await open();
    make("a", "b");
    await settle();
    receive([jobMessage(job("a", { state: "running", seq: 3 }))]);
    flushLive();
    expect(children.rows.value[0]?.state).toBe("running");
    receive([{ id: "t", event: "deleted", data: '{"id":"a"}' }]);
    flushLive();
    await settle();
    expect(ids(children)).toEqual(["b"]);
  });
});
