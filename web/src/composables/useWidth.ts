import { onScopeDispose, ref, watch, type Ref } from "vue";

/** The width of an element in whole pixels, for drawings that need crisp lines. */
export function useWidth(element: Ref<HTMLElement | null>, first = 600): Readonly<Ref<number>> {
  const width = ref(first);
  const observer = new ResizeObserver((entries) => {
    for (const entry of entries) width.value = Math.round(entry.contentRect.width);
  });
  watch(element, (now) => {
    observer.disconnect();
    if (now) observer.observe(now);
  });
  onScopeDispose(() => observer.disconnect());
  return width;
}
