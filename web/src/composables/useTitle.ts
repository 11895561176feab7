import { onScopeDispose, watchEffect } from "vue";

/** The tab's title follows the page. */
export function useTitle(title: () => string): void {
  watchEffect(() => (document.title = `${title()} · Towpath`));
  onScopeDispose(() => (document.title = "Towpath"));
}
