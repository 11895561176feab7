/** Which rows of a long list are worth having in the document: those in view and a few around them. */
import { computed, onActivated, onMounted, onScopeDispose, ref, watch, type Ref } from "vue";

export interface VirtualOptions {
  scroller: Ref<HTMLElement | null>;
  count: Ref<number>;
  rowHeight: Ref<number>;
  /** Rows rendered beyond each edge. */
  spare?: number;
}

export interface VirtualRows {
  first: Ref<number>;
  last: Ref<number>;
  height: Ref<number>;
  atTop: Ref<boolean>;
  nearEnd: Ref<boolean>;
  scrollTo(index: number): void;
}

export function useVirtualRows(options: VirtualOptions): VirtualRows {
  const spare = options.spare ?? 12;
  const top = ref(0);
  const view = ref(800);

  const first = computed(() => Math.max(0, Math.floor(top.value / options.rowHeight.value) - spare));
  const last = computed(() =>
    Math.min(options.count.value, Math.ceil((top.value + view.value) / options.rowHeight.value) + spare),
  );
  const height = computed(() => options.count.value * options.rowHeight.value);
  const atTop = computed(() => top.value < options.rowHeight.value);
  const nearEnd = computed(() => height.value - top.value - view.value < 20 * options.rowHeight.value);

  function measure(): void {
    const scroller = options.scroller.value;
    // Without height it is not in the document: a kept page rests, and its place is worth keeping.
    if (!scroller?.clientHeight) return;
    top.value = scroller.scrollTop;
    view.value = scroller.clientHeight;
  }

  /** Brings a row into view with the least movement. */
  function scrollTo(index: number): void {
    const scroller = options.scroller.value;
    if (!scroller) return;
    const [start, size] = [index * options.rowHeight.value, options.rowHeight.value];
    if (start < scroller.scrollTop) scroller.scrollTop = start;
    else if (start + size > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = start + size - scroller.clientHeight;
    measure();
  }

  const observer = new ResizeObserver(measure);
  onMounted(() => {
    watch(
      options.scroller,
      (scroller, before) => {
        before?.removeEventListener("scroll", measure);
        observer.disconnect();
        if (!scroller) return;
        scroller.addEventListener("scroll", measure, { passive: true });
        observer.observe(scroller);
        measure();
      },
      { immediate: true },
    );
  });
  onActivated(() => options.scroller.value?.scrollTo({ top: top.value }));
  onScopeDispose(() => observer.disconnect());

  return { first, last, height, atTop, nearEnd, scrollTo };
}
