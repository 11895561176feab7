// @vitest-environment happy-dom
import { mount, type VueWrapper } from "@vue/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createMemoryHistory, createRouter, type Router } from "vue-router";
import AwayPage from "@/pages/AwayPage.vue";
import { loadSession, session, sessionProblem } from "@/stores/session";

/** What the server answers when it is asked who is logged in; null: it is away. */
const server = { answer: null as Response | null, asked: 0 };

function fetched(): Promise<Response> {
  server.asked += 1;
  return server.answer ? Promise.resolve(server.answer.clone()) : Promise.reject(new TypeError("no network"));
}

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
}

describe("the page that is shown while the server is away", () => {
  let page: VueWrapper;
  let router: Router;
  const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

  beforeEach(async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", fetched);
    vi.spyOn(document, "hidden", "get").mockReturnValue(true);
    server.answer = null;
    const nothing = { template: "<p />" };
    router = createRouter({
      history: createMemoryHistory(),
      routes: [
        { path: "/login", name: "login", component: nothing },
        { path: "/:rest(.*)*", component: nothing },
      ],
    });
    await router.push("/jobs?state=failed");
    await loadSession();
    page = mount(AwayPage, { global: { plugins: [router] } });
    await settle();
    server.asked = 0;
  });
  afterEach(() => {
    page.unmount();
    session.value = sessionProblem.value = null;
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it("asks by the clock, in a hidden tab too, and has the session as soon as the server is back", async () => {
    await settle(6000);
    expect([server.asked, session.value]).toEqual([2, null]);
    server.answer = json({ account: { id: "a" }, tenant: "acme", scopes: [] });
    await settle(3000);
    expect([session.value?.tenant, sessionProblem.value]).toEqual(["acme", null]);
  });

  it("sends who is no longer logged in to the log-in, and back again after it", async () => {
    server.answer = json({ title: "Log in", status: 401 }, 401);
    await settle(3000);
    expect(router.currentRoute.value).toMatchObject({ name: "login", query: { next: "/jobs?state=failed" } });
  });

  it("asks nothing once it is left", async () => {
    page.unmount();
    await settle(60_000);
    expect(server.asked).toBe(0);
  });
});
