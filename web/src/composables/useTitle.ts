import { onActivated, onScopeDispose, watch } from "vue";

/** The tab's title follows the page. */
export function useTitle(title: () => string): void {
  const show = (): void => void (document.title = `${title()} · Towpath`);
  watch(title, show, { immediate: true });
  onActivated(show);
  onScopeDispose(() => (document.title = "Towpath"));
}
