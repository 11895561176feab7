/**
 * Keeps the current line in view while the page itself scrolls. Every step of its own scrolling is remembered, so that any
 * other movement is known to be the reader's. See services/recordings/following.ts for the rule.
 */
import { computed, onMounted, onScopeDispose, ref, watch, type ComputedRef, type Ref } from "vue";
import {
  after,
  AT_FIRST,
  correction,
  mayScroll,
  sees,
  type Band,
  type Following,
  type ReaderDid,
} from "@/services/recordings/following";

export interface Follower {
  follows: ComputedRef<boolean>;
  /** Whether the current line is further down than what is seen, when it is out of sight. */
  below: Readonly<Ref<boolean>>;
  did(what: ReaderDid): void;
  /** Brings the element to where one reads, if it is not there. */
  show(line: HTMLElement | null): void;
}

const GLIDE_MS = 260;
/** After a move of its own the page still shifts a little, while lines that were only guessed at get their height. */
const SETTLING_MS = 250;

export interface FollowingOptions {
  /** How much of the window is covered from above. */
  top(): number;
  /** The line that is being said, reactive; -1 for none. */
  at(): number;
  lineOf(at: number): HTMLElement | null;
}

export function useFollowing(options: FollowingOptions): Follower {
  const state = ref<Following>(AT_FIRST);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const below = ref(false);
  let ownPlace = -1;
  let ownUntil = 0;
  let frame = 0;

  /** What stands below the page ends the view earlier. */
  const bottom = (): number =>
    window.innerHeight - (parseFloat(getComputedStyle(document.documentElement).scrollPaddingBottom) || 0);
  const view = (): Band => ({ top: options.top(), bottom: bottom() });

  function did(what: ReaderDid): void {
    state.value = after(state.value, what);
  }

  function moveTo(place: number): void {
    window.scrollTo({ top: place, behavior: "instant" });
    ownPlace = window.scrollY;
    ownUntil = performance.now() + SETTLING_MS;
  }

  function glide(by: number): void {
    cancelAnimationFrame(frame);
    const [from, began] = [window.scrollY, performance.now()];
    if (calm.matches || Math.abs(by) > 2.5 * window.innerHeight) return moveTo(from + by);
    const step = (now: number): void => {
      if (Math.abs(window.scrollY - ownPlace) > 2) return;
      const share = Math.min(1, (now - began) / GLIDE_MS);
      moveTo(from + by * (1 - (1 - share) ** 3));
      if (share < 1) frame = requestAnimationFrame(step);
    };
    ownPlace = from;
    frame = requestAnimationFrame(step);
  }

  function show(line: HTMLElement | null): void {
    if (!line) return;
    const by = correction(line.getBoundingClientRect(), view());
    if (!by) return;
    glide(by);
    // Lines that were never drawn had only been guessed at; a far jump is made good once they are.
    if (Math.abs(by) > window.innerHeight) requestAnimationFrame(() => requestAnimationFrame(() => settle(line)));
  }

  function settle(line: HTMLElement): void {
    const by = correction(line.getBoundingClientRect(), view());
    if (by && performance.now() < ownUntil) moveTo(window.scrollY + by);
  }

  function onScroll(): void {
    const line = options.lineOf(options.at());
    if (!line) return;
    const [place, seen] = [line.getBoundingClientRect(), view()];
    below.value = place.top > seen.top;
    if (Math.abs(window.scrollY - ownPlace) <= 2 || performance.now() < ownUntil) return;
    did({ what: "scrolled", sees: sees(place, seen) });
  }

  watch(options.at, (at) => void (mayScroll(state.value) && show(options.lineOf(at))), { flush: "post" });
  onMounted(() => window.addEventListener("scroll", onScroll, { passive: true }));
  onScopeDispose(() => {
    window.removeEventListener("scroll", onScroll);
    cancelAnimationFrame(frame);
  });

  return { follows: computed(() => state.value.follows), below, did, show };
}
