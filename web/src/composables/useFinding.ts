/** Words looked for in a transcript: where they stand, and which of the places is being looked at. */
import { computed, ref, watch, type ComputedRef, type Ref } from "vue";
import type { Segment } from "@/api/types";
import { byLine, findIn, nearest, turn, type Hit } from "@/services/recordings/finding";

export interface Finding {
  words: Ref<string>;
  hits: ComputedRef<Hit[]>;
  byLine: ComputedRef<ReturnType<typeof byLine>>;
  /** The number of the hit that is being looked at. */
  at: Readonly<Ref<number>>;
  /** Counts the looks, so that looking at the same hit again is noticed. */
  looks: Readonly<Ref<number>>;
  go(by: 1 | -1): void;
}

/** `from` is the line that is being read: a search begins there. */
export function useFinding(lines: () => readonly Segment[], from: () => number): Finding {
  const words = ref("");
  const at = ref(0);
  const looks = ref(0);
  const hits = computed(() => findIn(lines(), words.value));

  watch(words, () => {
    at.value = nearest(hits.value, from());
    if (hits.value.length) looks.value += 1;
  });
  watch(hits, (now) => (at.value = Math.min(at.value, Math.max(0, now.length - 1))));

  function go(by: 1 | -1): void {
    at.value = turn(at.value, by, hits.value.length);
    looks.value += 1;
  }

  return { words, hits, byLine: computed(() => byLine(hits.value)), at, looks, go };
}
