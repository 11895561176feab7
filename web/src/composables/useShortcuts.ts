/** Keys that act without a modifier, as long as nobody is typing and no dialog is open. */
import { onMounted, onScopeDispose } from "vue";

export type Shortcuts = Record<string, (event: KeyboardEvent) => void>;

export function useShortcuts(shortcuts: Shortcuts): void {
  function press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector("[role=dialog], [role=menu]")) return;
    shortcuts[event.key]?.(event);
  }
  onMounted(() => window.addEventListener("keydown", press));
  onScopeDispose(() => window.removeEventListener("keydown", press));
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));
}
