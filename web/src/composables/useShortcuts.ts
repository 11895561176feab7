/** Keys that act without a modifier, as long as nobody is typing and no dialog is open. */
import { onActivated, onDeactivated, onMounted, onScopeDispose } from "vue";

export type Shortcuts = Record<string, (event: KeyboardEvent) => void>;

export function useShortcuts(shortcuts: Shortcuts): void {
  function press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector("[role=dialog], [role=menu]")) return;
    shortcuts[event.key]?.(event);
  }
  const listen = (): void => window.addEventListener("keydown", press);
  const rest = (): void => window.removeEventListener("keydown", press);
  onMounted(listen);
  onActivated(listen);
  onDeactivated(rest);
  onScopeDispose(rest);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));
}
