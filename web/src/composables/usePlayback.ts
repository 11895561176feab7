/** A recording being played: an <audio> or <video> element as state, and what can be done with it. Speed and volume are remembered. */
import { computed, onScopeDispose, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from "vue";
import { recallJson, remember } from "@/services/remembering";
import { listenLive } from "@/stores/live";

/** Why nothing is heard: the browser does not know the format, the file is gone, or nobody answers. */
export type PlaybackTrouble = "format" | "gone" | "away";

export interface Playback {
  /** The element itself, given by whoever has it in the page. */
  element: ShallowRef<HTMLMediaElement | null>;
  position: Readonly<Ref<number>>;
  /** Seconds; as the server measured them, else as the browser says, else 0. */
  length: ComputedRef<number>;
  playing: Readonly<Ref<boolean>>;
  /** Wants to play, and waits for what comes over the network. */
  starved: Readonly<Ref<boolean>>;
  /** Something was played or sought: there is a "now" worth going back to. */
  begun: Readonly<Ref<boolean>>;
  trouble: Readonly<Ref<PlaybackTrouble | null>>;
  rate: Ref<number>;
  volume: Ref<number>;
  muted: Ref<boolean>;
  /** Whether there is something to see. */
  pictured: Readonly<Ref<boolean>>;
  toggle(): void;
  play(): void;
  pause(): void;
  seek(seconds: number): void;
  skip(seconds: number): void;
  retry(): void;
}

export const RATES = [0.75, 1, 1.25, 1.5, 1.75, 2, 2.5] as const;
const KEY = "towpath.player";
const EVERY_MS = 100;

export function usePlayback(address: () => string | null, measured: () => number | null): Playback {
  const element = shallowRef<HTMLMediaElement | null>(null);
  const position = ref(0);
  const told = ref(0);
  const playing = ref(false);
  const starved = ref(false);
  const begun = ref(false);
  const pictured = ref(false);
  const trouble = ref<PlaybackTrouble | null>(null);
  const { rate, volume, muted } = remembered();
  const length = computed(() => measured() ?? told.value);
  let frame = 0;
  let shownAt = 0;

  function show(): void {
    if (element.value) position.value = element.value.currentTime;
  }

  /** The browser tells of its place four times a second, which is late for a line that is one word long. */
  function run(now: number): void {
    frame = requestAnimationFrame(run);
    if (now - shownAt < EVERY_MS) return;
    shownAt = now;
    show();
  }

  function rest(): void {
    cancelAnimationFrame(frame);
    frame = 0;
  }

  const events: Record<string, () => void> = {
    play: () => (begun.value = true),
    playing() {
      [playing.value, starved.value, trouble.value] = [true, false, null];
      if (!frame) frame = requestAnimationFrame(run);
    },
    pause() {
      [playing.value, starved.value] = [false, false];
      rest();
      show();
    },
    ended: show,
    waiting: () => (starved.value = !(element.value?.paused ?? true)),
    canplay: () => (starved.value = false),
    timeupdate: show,
    seeked: show,
    loadedmetadata() {
      pictured.value = element.value instanceof HTMLVideoElement && element.value.videoWidth > 0;
    },
    durationchange() {
      const found = element.value?.duration ?? 0;
      told.value = Number.isFinite(found) ? found : 0;
    },
    error: () => void judge(),
  };

  /** The element says only that it failed; the server says why. */
  async function judge(): Promise<void> {
    const from = address();
    [playing.value, starved.value] = [false, false];
    rest();
    if (!from || !element.value?.error) return;
    try {
      const answer = await fetch(from, { headers: { Range: "bytes=0-0" }, cache: "no-store" });
      trouble.value = answer.ok ? "format" : answer.status === 404 ? "gone" : "away";
    } catch {
      trouble.value = "away";
    }
  }

  function dress(audio: HTMLMediaElement): void {
    audio.playbackRate = rate.value;
    audio.defaultPlaybackRate = rate.value;
    audio.volume = volume.value;
    audio.muted = muted.value;
  }

  watch(element, (audio, before) => {
    for (const [name, act] of Object.entries(events)) {
      before?.removeEventListener(name, act);
      audio?.addEventListener(name, act);
    }
    if (audio) dress(audio);
  });
  watch([rate, volume, muted], () => {
    if (element.value) dress(element.value);
    const chosen: Remembered = { rate: rate.value, volume: volume.value, muted: muted.value };
    remember(KEY, JSON.stringify(chosen));
  });

  function toggle(): void {
    const audio = element.value;
    if (!audio || trouble.value === "format") return;
    if (audio.paused) play();
    else audio.pause();
  }

  function play(): void {
    if (trouble.value !== "format") void element.value?.play().catch(() => undefined);
  }

  const pause = (): void => element.value?.pause();

  function seek(seconds: number): void {
    const audio = element.value;
    if (!audio) return;
    const end = length.value || seconds;
    begun.value = true;
    audio.currentTime = position.value = Math.min(Math.max(0, seconds), end);
  }

  /** Begins again where it was. */
  function retry(): void {
    const [audio, was] = [element.value, position.value];
    if (!audio) return;
    trouble.value = null;
    audio.load();
    audio.currentTime = was;
  }

  const stopListening = listenLive({ onOpen: () => void (trouble.value === "away" && retry()) });
  onScopeDispose(() => {
    rest();
    stopListening();
    element.value?.pause();
  });

  const skip = (seconds: number): void => seek(position.value + seconds);
  return {
    ...{ element, position, length, playing, starved, begun, trouble, rate, volume, muted, pictured },
    ...{ toggle, play, pause, seek, skip, retry },
  };
}

interface Remembered {
  rate: number;
  volume: number;
  muted: boolean;
}

function remembered(): { rate: Ref<number>; volume: Ref<number>; muted: Ref<boolean> } {
  const found = recallJson(KEY) as Partial<Remembered> | null;
  const within = (value: unknown, least: number, most: number): value is number =>
    typeof value === "number" && value >= least && value <= most;
  return {
    rate: ref(within(found?.rate, 0.5, 3) ? found.rate : 1),
    volume: ref(within(found?.volume, 0, 1) ? found.volume : 1),
    muted: ref(found?.muted === true),
  };
}
