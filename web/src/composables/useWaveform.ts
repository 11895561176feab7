/** How loud a recording is along its length, once the server knows; it is asked for anew until it does. */
import { computed, ref, type ComputedRef } from "vue";
import type { Waveform } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import { loudness } from "@/services/recordings/waveform";

const EVERY_MS = 3000;
/** A server without a worker never makes it, and nobody needs it that much. */
const MOST_TIMES = 20;

/** `expected` says whether it makes sense to ask: the recording was decoded, and its audio may be heard. */
export function useWaveform(ask: () => Promise<Waveform>, expected: () => boolean): ComputedRef<Uint8Array | null> {
  const times = ref(0);
  const query: LiveQuery<Waveform> = useLiveQuery<Waveform>(
    () => {
      if (!expected()) return Promise.resolve({ peaks: null });
      times.value += 1;
      return ask();
    },
    {
      watch: expected,
      pollMs: EVERY_MS,
      pollWhile: () => expected() && times.value < MOST_TIMES && (query.data.value?.peaks ?? null) === null,
    },
  );
  return computed(() => loudness(query.data.value?.peaks));
}
