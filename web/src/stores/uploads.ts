/** Files on their way from this browser, the same in all its tabs; and what readers do with them. */
import { onScopeDispose, ref, shallowRef, watch } from "vue";
import { refusalWords, sorted, type UploadLimits } from "@/services/uploads/checking";
import { getLimits } from "@/services/uploads/client";
import type { NewFile } from "@/services/uploads/engine";
import { autoUpload, hasHeld, setAutoUpload, setHeld } from "@/services/uploads/memory";
import { NO_OPTIONS, type UploadOptions, type UploadRow } from "@/services/uploads/row";
import { shareUploads, type SharedUploads, type Wish } from "@/services/uploads/sharing";
import { plural } from "@/format/numbers";
import { listenLive } from "@/stores/live";
import { loadSession, sessionName } from "@/stores/session";
import { toast } from "@/stores/toasts";

export const uploads = shallowRef<UploadRow[]>([]);
/** Whether dropped files are uploaded at once; kept in this browser. */
export const startsByItself = ref(autoUpload());
watch(startsByItself, setAutoUpload);

let shared: SharedUploads | null = null;
let limits: { of: string; asked: Promise<UploadLimits> } | null = null;

function wish(wanted: Wish): void {
  shared?.wish(wanted);
}

/** Stages files, or uploads them at once if that is the setting. What is certain to be refused is told now. */
export async function addFiles(
  files: readonly NewFile[],
  options: UploadOptions = { ...NO_OPTIONS },
  atOnce = startsByItself.value,
): Promise<void> {
  if (!files.length) return;
  const waiting = uploads.value.filter((row) => row.status === "ready").reduce((sum, row) => sum + row.size, 0);
  const { most, room } = await currentLimits();
  const judged = sorted(
    files.map(({ file, path }) => ({ name: file.name, size: file.size, file, path })),
    { most, room: room === null ? null : room - waiting },
  );
  if (judged.refused.length) {
    const { text, detail } = refusalWords(judged.refused);
    toast(text, { detail, bad: true });
  }
  const good = judged.good.map(({ file, path }) => ({ file, path }));
  if (good.length) wish({ do: "add", files: good, options: { ...options }, start: atOnce });
}

function currentLimits(): Promise<UploadLimits> {
  const who = sessionName.value;
  if (limits?.of !== who) limits = { of: who, asked: getLimits() };
  return limits.asked;
}

export function startUploads(ids: readonly string[]): void {
  if (ids.length) wish({ do: "start", ids: [...ids] });
}

export function changeUploads(ids: readonly string[], options: Partial<UploadOptions>): void {
  if (ids.length) wish({ do: "change", ids: [...ids], options: { ...options } });
}

/** Takes files off the list; uploads are stopped, and what has arrived of them is deleted on the server. */
export function removeUploads(ids: readonly string[]): void {
  if (ids.length) wish({ do: "remove", ids: [...ids] });
}

export function forgetUploads(ids: readonly string[]): void {
  if (ids.length) wish({ do: "forget", ids: [...ids] });
}

/** For who was logged out in the middle of it. */
function comfort(rows: readonly UploadRow[]): void {
  const open = rows.filter((row) => row.recordingId === null).length;
  if (!open) return;
  const text = `${plural(open, "file")} ${open === 1 ? "waits" : "wait"} until you log in again`;
  toast(text, { detail: "They are kept in this browser, and go on where they were." });
}

/** Called once, by the app: uploads belong to an account and a tenant, and rest while nobody is logged in. */
export function useUploads(): void {
  function open(name: string): void {
    shared = shareUploads({
      name,
      expecting: () => hasHeld(name),
      async load(onRows) {
        const { createEngine } = await import("@/services/uploads/engine");
        return createEngine({ id: `towpath.${name}`, expecting: hasHeld(name), onRows });
      },
      onRows(rows) {
        uploads.value = rows;
        setHeld(name, rows.length > 0);
        if (rows.some((row) => row.problem?.kind === "login")) void loadSession();
      },
      onKnown(names) {
        const text =
          names.length === 1
            ? `${names[0]} is on the list already`
            : `${plural(names.length, "file")} are on the list already`;
        toast(text);
      },
      onFailure(caught) {
        toast("Uploads cannot be started", { detail: String(caught), bad: true });
      },
    });
  }

  function close(): void {
    shared?.stop();
    shared = null;
    limits = null;
    uploads.value = [];
  }

  watch(
    sessionName,
    (name) => {
      if (!name) comfort(uploads.value);
      close();
      if (name) open(name);
    },
    { immediate: true },
  );

  const goOn = (): void => wish({ do: "goOn" });
  const stopListening = listenLive({ onOpen: goOn });
  window.addEventListener("online", goOn);
  onScopeDispose(() => {
    close();
    stopListening();
    window.removeEventListener("online", goOn);
  });
}
