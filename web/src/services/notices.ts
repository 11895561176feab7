/** Telling the reader that a recording is done or failed: by the system when they look elsewhere, by a toast when not. */
import { readonly, ref } from "vue";
import { plural } from "@/format/numbers";
import { underBase } from "@/services/base";
import { recall, remember } from "@/services/remembering";
import type { UnifiedItem } from "@/services/uploads/unify";

const KEY = "towpath.notices";
const VISIBLE = "towpath.visible";

export type NoticeState = "unsupported" | "off" | "on" | "blocked";

const state = ref<NoticeState>(found());
export const noticeState = readonly(state);

function found(): NoticeState {
  if (typeof Notification === "undefined") return "unsupported";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && recall(KEY) === "1" ? "on" : "off";
}

/** Asks the browser for permission the first time; only ever called because somebody pressed a button. */
export async function setNotices(on: boolean): Promise<void> {
  if (on && Notification.permission === "default") await Notification.requestPermission();
  remember(KEY, on ? "1" : null);
  state.value = found();
}

export interface Ending {
  text: string;
  detail: string | null;
  bad: boolean;
  recordingId: string | null;
}

/** One message for all that ended at once, however many they are. */
export function endingOf(items: readonly UnifiedItem[]): Ending | null {
  const [first] = items;
  if (!first) return null;
  const failed = items.filter((item) => item.status === "FAILED");
  if (items.length === 1) {
    const bad = failed.length === 1;
    const detail = bad ? (first.recording?.error ?? null) : null;
    return { text: `${first.title} ${bad ? "failed" : "is done"}`, detail, bad, recordingId: first.recordingId };
  }
  const done = items.length - failed.length;
  const parts = [
    done && `${plural(done, "recording")} ${done === 1 ? "is" : "are"} done`,
    failed.length && `${failed.length} failed`,
  ];
  const names = items.slice(0, 3).map((item) => item.title);
  if (items.length > names.length) names.push(`and ${items.length - names.length} more`);
  return { text: parts.filter(Boolean).join(", "), detail: names.join(", "), bad: done === 0, recordingId: null };
}

/** Whether some tab of this app is being looked at. */
async function isWatched(): Promise<boolean> {
  if (!document.hidden) return true;
  if (!("locks" in navigator)) return false;
  const { held } = await navigator.locks.query();
  return held?.some((lock) => lock.name === VISIBLE) ?? false;
}

/** Holds a sign for the other tabs while this one is visible. The answer stops it. */
export function showPresence(): () => void {
  let release: (() => void) | null = null;
  function update(): void {
    release?.();
    release = null;
    if (document.hidden || !("locks" in navigator)) return;
    const held = new Promise<void>((resolve) => (release = resolve));
    navigator.locks.request(VISIBLE, { mode: "shared" }, () => held).catch(() => undefined);
  }
  document.addEventListener("visibilitychange", update);
  update();
  return () => {
    document.removeEventListener("visibilitychange", update);
    release?.();
  };
}

/** A notification of the system, if it is wanted and nobody looks. The tag makes that of several tabs one. */
export async function notify(ending: Ending, open: (recordingId: string | null) => void): Promise<void> {
  if (found() !== "on" || (await isWatched())) return;
  const options = {
    body: ending.detail ?? undefined,
    tag: ending.recordingId ?? ending.text,
    icon: underBase("mark.svg"),
  };
  try {
    const shown = new Notification(ending.text, options);
    shown.onclick = () => {
      window.focus();
      shown.close();
      open(ending.recordingId);
    };
  } catch {
    // Some phones know notifications of service workers only.
  }
}
