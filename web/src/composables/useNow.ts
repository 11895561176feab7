/** One clock for the whole page: every relative time moves on the same tick, and none ticks in a hidden tab. */
import { onScopeDispose, readonly, ref, type Ref } from "vue";

const now = ref(Date.now());
let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  if (!document.hidden) now.value = Date.now();
}

export function useNow(): Readonly<Ref<number>> {
  users += 1;
  if (users === 1) {
    tick();
    timer = setInterval(tick, 1000);
    document.addEventListener("visibilitychange", tick);
  }
  onScopeDispose(() => {
    users -= 1;
    if (users > 0) return;
    clearInterval(timer);
    document.removeEventListener("visibilitychange", tick);
  });
  return readonly(now);
}
