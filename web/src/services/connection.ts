/** Ties the push stream to the session: open while somebody is logged in, anew when the tenant changes. */
import { onScopeDispose, watch } from "vue";
import { underBase } from "@/services/base";
import { openSharedStream, type SharedStream } from "@/services/tabs";
import { receive, setLiveStatus } from "@/stores/live";
import { loadSession, sessionName } from "@/stores/session";

export function useConnection(): void {
  let stream: SharedStream | null = null;

  function close(): void {
    stream?.stop();
    stream = null;
    setLiveStatus("off");
  }

  function open(name: string): void {
    stream = openSharedStream({
      url: underBase("api/events"),
      name,
      onMessages: receive,
      onStatus(status) {
        setLiveStatus(status);
        if (status === "refused") void loadSession();
      },
    });
  }

  watch(
    sessionName,
    (name) => {
      close();
      if (name) open(name);
    },
    { immediate: true },
  );

  const hurry = (): void => stream?.retryNow();
  const onVisible = (): void => void (document.hidden || hurry());
  window.addEventListener("online", hurry);
  document.addEventListener("visibilitychange", onVisible);
  onScopeDispose(() => {
    close();
    window.removeEventListener("online", hurry);
    document.removeEventListener("visibilitychange", onVisible);
  });
}
