import { onScopeDispose, readonly, ref, type Ref } from "vue";

/** Whether a media query holds, for the few places where layout needs more than CSS. */
export function useMedia(query: string): Readonly<Ref<boolean>> {
  const list = matchMedia(query);
  const holds = ref(list.matches);
  const update = (event: MediaQueryListEvent): void => void (holds.value = event.matches);
  list.addEventListener("change", update);
  onScopeDispose(() => list.removeEventListener("change", update));
  return readonly(holds);
}
