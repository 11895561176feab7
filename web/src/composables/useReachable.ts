/** Whether the server can be reached, as far as this page knows. */
import { computed, onScopeDispose, ref, type ComputedRef } from "vue";
import { liveStatus } from "@/stores/live";

export function useReachable(): ComputedRef<boolean> {
  const online = ref(navigator.onLine);
  const update = (): void => void (online.value = navigator.onLine);
  window.addEventListener("online", update);
  window.addEventListener("offline", update);
  onScopeDispose(() => {
    window.removeEventListener("online", update);
    window.removeEventListener("offline", update);
  });
  return computed(() => online.value && liveStatus.value !== "reconnecting");
}
