/**
 * Pages come in files of their own. They are fetched while the browser is idle, so that walking about works without the
 * server; a file that could not be had (the server was away, or an upgrade gave it another name) is never asked for again by
 * the same document, so the page is then loaded as a whole, as soon as the server answers.
 */
import type { Component } from "vue";
import type { RouteLocationNormalized, Router } from "vue-router";
import { underBase } from "@/services/base";
import { toast } from "@/stores/toasts";

type Loader = () => Promise<{ default: Component }>;

/** The file of a page could not be had. */
export class PageMissing extends Error {}

const ahead: (() => Promise<unknown>)[] = [];
const ASK_MS = 1500;
const ANSWER_MS = 4000;
/** A page that is missing so soon after a whole load is missing on the server; loading again would go on for ever. */
const AGAIN_MS = 10_000;
const LOADED = "towpath.loaded";

/** A route's component that tells its own absence from any other mistake. */
export function page(load: Loader): Loader {
  ahead.push(load);
  return async () => {
    try {
      return await load();
    } catch (caught) {
      throw new PageMissing(String(caught));
    }
  };
}

/**
 * Fetches every page one after the other, whenever there is nothing else to do. It ends when the server is away; called
 * again, it goes on after that. What failed is left to a whole load.
 */
export async function prefetchPages(): Promise<void> {
  for (let load = ahead.shift(); load; load = ahead.shift()) {
    await idle();
    try {
      await load();
    } catch {
      if (!(await answers())) return;
    }
  }
}

/** Something else that is to be here before the server goes away. */
export function prefetchToo(load: () => Promise<unknown>): void {
  ahead.push(load);
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 2000 });
    else setTimeout(resolve, 200);
  });
}

/**
 * Goes to a page whose file is missing by loading it as a whole; any other way that is taken meanwhile ends the wait. It
 * asks for nothing but a sign of life, before there is a page that could ask by a live query.
 */
export function recoverMissingPages(router: Router): void {
  let waiting = 0;

  async function loadWhole(to: RouteLocationNormalized): Promise<void> {
    waiting += 1;
    const mine = waiting;
    for (let told = false; !(await answers()); told = true) {
      if (!told) toast("The server does not answer", { detail: "The page opens as soon as it does." });
      await new Promise((resolve) => setTimeout(resolve, ASK_MS));
      if (mine !== waiting) return;
    }
    if (mine !== waiting) return;
    const address = router.resolve(to.fullPath).href;
    if (justLoaded(address))
      toast("This page cannot be loaded", { detail: "The server does not have its files: reload later.", bad: true });
    else location.assign(address);
  }

  router.onError((caught: unknown, to) => {
    if (caught instanceof PageMissing) void loadWhole(to);
  });
  router.afterEach((_to, _from, failure) => {
    if (!failure) waiting += 1;
  });
}

async function answers(): Promise<boolean> {
  try {
    const answer = await fetch(underBase("healthz"), { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
    return answer.ok;
  } catch {
    return false;
  }
}

function justLoaded(address: string): boolean {
  try {
    const [before, at] = JSON.parse(sessionStorage.getItem(LOADED) ?? '["", 0]') as [string, number];
    sessionStorage.setItem(LOADED, JSON.stringify([address, Date.now()]));
    return before === address && Date.now() - at < AGAIN_MS;
  } catch {
    return false;
  }
}
