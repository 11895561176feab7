// @vitest-environment happy-dom
import { flushPromises, mount, type VueWrapper } from "@vue/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Token } from "@/api/types";
import TokenSettings from "@/components/settings/TokenSettings.vue";
import { listTokens, revokeToken } from "@/services/accounts";
import { Problem } from "@/services/problem";
import { done, question, toasts } from "@/stores/toasts";

vi.mock("@/services/accounts");

const token = { id: "t1", name: "nightly", prefix: "tow_ab", account: "ann", scopes: ["read"], tenant: "north" } as Token;
const away = new Problem({ status: 503, detail: "the database is away" });
const told = (): string[] => toasts.value.map((toast) => toast.text);

describe("a token that is revoked", () => {
  let page: VueWrapper;

  beforeEach(async () => {
    toasts.value = [];
    vi.mocked(listTokens).mockResolvedValue({ items: [token], next: null });
    page = mount(TokenSettings);
    await flushPromises();
  });
  afterEach(() => page.unmount());

  async function revoke(yes: boolean): Promise<void> {
    await page.get("tbody button").trigger("click");
    question.value?.answer(yes);
    await flushPromises();
  }

  it("is told of", async () => {
    vi.mocked(revokeToken).mockResolvedValue();
    await revoke(true);
    expect(revokeToken).toHaveBeenCalledWith("t1");
    expect(told()).toEqual(["nightly is revoked"]);
  });

  it("is not told of if it was not revoked, but why", async () => {
    vi.mocked(revokeToken).mockRejectedValue(away);
    await revoke(true);
    expect(told()).toEqual(["the database is away"]);
  });

  it("is left alone by whoever says no", async () => {
    vi.mocked(revokeToken).mockClear();
    await revoke(false);
    expect(revokeToken).not.toHaveBeenCalled();
    expect(told()).toEqual([]);
  });
});

describe("an action that answers nothing", () => {
  beforeEach(() => void (toasts.value = []));

  it("is done if it did not fail", async () => {
    expect(await done(() => Promise.resolve())).toBe(true);
    expect(told()).toEqual([]);
  });

  it("is not done if it did, and the reason is told", async () => {
    expect(await done(() => Promise.reject(away))).toBe(false);
    expect(told()).toEqual(["the database is away"]);
  });
});
