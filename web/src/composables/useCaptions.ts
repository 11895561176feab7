/** What is said, over the picture of a video: a text track made of the lines as they stand, corrections included. */
import { ref, watch, type Ref } from "vue";
import type { Segment } from "@/api/types";

export interface Captions {
  shown: Ref<boolean>;
}

export function useCaptions(element: () => HTMLMediaElement | null, lines: () => readonly Segment[]): Captions {
  const shown = ref(true);
  let track: TextTrack | null = null;
  watch(
    [element, lines, shown],
    ([media, said]) => {
      if (!(media instanceof HTMLVideoElement)) return;
      track ??= media.addTextTrack("captions", "Transcript");
      track.mode = shown.value ? "showing" : "hidden";
      for (const cue of [...(track.cues ?? [])]) track.removeCue(cue);
      for (const { start, end, text } of said) if (text) track.addCue(new VTTCue(start, Math.max(end, start + 0.2), text));
    },
    { flush: "post", immediate: true },
  );
  return { shown };
}
