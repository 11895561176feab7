/**
 * Recording with the microphone, wherever in the app one is meanwhile. When it ends, or was ended by a closed tab, what was heard
 * goes to the uploads as a file; it is let go of here when the server has it.
 */
import { computed, onScopeDispose, ref, shallowRef, watch } from "vue";
import { findAlike } from "@/services/microphone/alike";
import { hear, PIECE_MS, refusalOf, unable, type Hearing } from "@/services/microphone/recorder";
import { dropTake, fileOf, keepTake, takesOf, type Take } from "@/services/microphone/store";
import { NO_OPTIONS } from "@/services/uploads/row";
import { sessionName } from "@/stores/session";
import { toast } from "@/stores/toasts";
import { addFiles, uploads } from "@/stores/uploads";

export type MicrophoneState = "off" | "asking" | "recording" | "paused" | "ending";

export const microphone = ref<MicrophoneState>("off");
export const title = ref("");
/** Who records in a room mostly wants to know who said what. */
export const speakers = ref(true);
/** Milliseconds that are safe in this browser. */
export const kept = ref(0);
export const trouble = ref<string | null>(null);
const hearing = shallowRef<Hearing | null>(null);
export const isHearing = computed(() => hearing.value !== null);

export function level(): number {
  return microphone.value === "recording" ? (hearing.value?.level() ?? 0) : 0;
}

const lockOf = (id: string): string => `towpath.take.${id}`;
let release: (() => void) | null = null;
let awake: WakeLockSentinel | null = null;

export async function record(): Promise<void> {
  const owner = sessionName.value;
  const why = unable();
  if (why || !owner || microphone.value !== "off") {
    if (why) toast("This page cannot use the microphone", { detail: why, bad: true });
    return;
  }
  [microphone.value, trouble.value, kept.value] = ["asking", null, 0];
  const id = crypto.randomUUID();
  hold(id);
  try {
    const begunAt = Date.now();
    hearing.value = await hear({
      take: {
        id,
        owner,
        begunAt,
        stem: stemOf(begunAt),
        options: { ...NO_OPTIONS, speakers: speakers.value },
        handed: false,
      },
      onKept: () => (kept.value += PIECE_MS),
      onEnded: () => void finish("The microphone was taken away. What was heard until then is kept."),
      onLost: (caught) =>
        (trouble.value = `This browser cannot keep more: ${String(caught)}. Stop, and what is kept is sent.`),
    });
    microphone.value = "recording";
    awake = (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
  } catch (caught) {
    letGo();
    void dropTake(id).catch(() => undefined);
    toast("Nothing is recorded", { detail: refusalOf(caught), bad: true });
  }
}

export function pause(): void {
  hearing.value?.pause();
  microphone.value = "paused";
}

export function resume(): void {
  hearing.value?.resume();
  microphone.value = "recording";
}

/** Ends it and sends it. */
export async function finish(why: string | null = null): Promise<void> {
  const now = hearing.value;
  if (!now || microphone.value === "ending") return;
  microphone.value = "ending";
  if (why) toast(why, { bad: true });
  await now.stop();
  const take = { ...now.take, options: said(now.take) };
  await hand(take);
  title.value = "";
  letGo();
}

/** Ends it and forgets it. */
export async function discard(): Promise<void> {
  const now = hearing.value;
  if (!now || microphone.value === "ending") return;
  microphone.value = "ending";
  await now.stop();
  await dropTake(now.take.id);
  title.value = "";
  letGo();
}

/** What was chosen while it was recorded. */
function said(take: Take): Take["options"] {
  return { ...take.options, title: title.value.trim(), speakers: speakers.value };
}

function letGo(): void {
  hearing.value = null;
  microphone.value = "off";
  release?.();
  release = null;
  void awake?.release().catch(() => undefined);
  awake = null;
}

/** As long as this tab lives nobody takes the take for one that was left behind. */
function hold(id: string): void {
  void navigator.locks.request(lockOf(id), () => new Promise<void>((resolve) => (release = resolve)));
}

/** Sortable, and fit for every file system. */
function stemOf(at: number): string {
  const when = new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString();
  return `Recording ${when.slice(0, 10)} ${when.slice(11, 19).replaceAll(":", ".")}`;
}

async function hand(take: Take): Promise<void> {
  const file = await fileOf(take);
  if (!file) return dropTake(take.id);
  await keepTake({ ...take, handed: true });
  known.set(take.name, take.id);
  await addFiles([{ file }], take.options, true);
}

/** File names of takes that the uploads have, and whether their row was seen. */
const known = new Map<string, string>();
const seen = new Set<string>();

/** The server has it, or somebody took it off the list: it need not be kept here any more. */
function follow(): void {
  const rows = new Map(uploads.value.map((row) => [row.name, row]));
  for (const [name, id] of known) {
    const row = rows.get(name);
    if (row) seen.add(name);
    if (row ? row.recordingId === null : !seen.has(name)) continue;
    known.delete(name);
    seen.delete(name);
    void dropTake(id);
  }
}

/** What a tab left behind that was closed in the middle, or a browser that was. */
async function recover(owner: string): Promise<void> {
  for (const { id } of await takesOf(owner))
    await navigator.locks.request(lockOf(id), { ifAvailable: true }, async (free) => {
      const take = (await takesOf(owner)).find((one) => one.id === id);
      if (!free || !take || sessionName.value !== owner) return;
      if (take.handed && uploads.value.some((row) => row.name === take.name)) return void known.set(take.name, take.id);
      const file = await fileOf(take);
      if (file && take.handed && (await findAlike(file, take.options))) return dropTake(take.id);
      await hand(take);
      if (file && !take.handed) toast("A recording that was cut off is being sent", { detail: take.name });
    });
}

/** Uppy needs a moment to find what it had; a take that it has is not given to it twice. */
const SETTLED_MS = 6000;

/** Called once, by the app. */
export function useMicrophone(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  watch(
    sessionName,
    (name) => {
      clearTimeout(timer);
      if (!name) return void finish();
      void takesOf(name).then((found) => {
        const wait = found.some((take) => take.handed) ? SETTLED_MS : 0;
        if (found.length) timer = setTimeout(() => void recover(name), wait);
      });
    },
    { immediate: true },
  );
  watch(uploads, follow);
  watch([title, speakers], () => {
    const take = hearing.value?.take;
    if (take && microphone.value !== "ending") void keepTake({ ...take, options: said(take) });
  });
  const ask = (event: BeforeUnloadEvent): void => {
    if (isHearing.value) event.preventDefault();
  };
  window.addEventListener("beforeunload", ask);
  onScopeDispose(() => {
    clearTimeout(timer);
    window.removeEventListener("beforeunload", ask);
  });
}
