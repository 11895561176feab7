/** An address with a second in it (`?t=83`, `#t=83`) opens there; so does a link to another second of the same page. */
import { watch } from "vue";
import { useRoute } from "vue-router";
import type { Playback } from "@/composables/usePlayback";
import { placeIn } from "@/services/recordings/places";

export function usePlace(playback: Playback): void {
  const route = useRoute();
  watch(
    [playback.element, () => placeIn(route.query.t, route.hash)],
    ([element, place]) => {
      if (element && place !== null) playback.seek(place);
    },
    { flush: "post", immediate: true },
  );
}
