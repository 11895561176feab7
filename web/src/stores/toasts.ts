/** Short messages about what was just done, and the question before something that cannot be undone. */
import { ref, shallowRef } from "vue";
import { plural } from "@/format/numbers";
import type { Outcome } from "@/services/many";
import { asProblem } from "@/services/problem";

export interface Toast {
  id: number;
  text: string;
  detail: string | null;
  bad: boolean;
}

export interface Question {
  title: string;
  text: string;
  yes: string;
  danger?: boolean;
}

const SHOWN_MS = 6000;

export const toasts = ref<Toast[]>([]);
export const question = shallowRef<(Question & { answer(yes: boolean): void }) | null>(null);
let lastId = 0;

/** At most so many at once; the oldest makes room. */
const MOST = 3;
/** While somebody reads them, or has the focus in them, none goes. */
let held = false;

export function holdToasts(now: boolean): void {
  held = now;
}

/** The same said again is not a second message: the first one is new once more. */
export function toast(text: string, options: { detail?: string | null; bad?: boolean } = {}): void {
  lastId += 1;
  const made = { id: lastId, text, detail: options.detail ?? null, bad: options.bad ?? false };
  const others = toasts.value.filter((one) => one.text !== made.text || one.detail !== made.detail);
  toasts.value = [...others.slice(1 - MOST), made];
  leaveAfter(made.id, made.bad ? 2 * SHOWN_MS : SHOWN_MS);
}

function leaveAfter(id: number, ms: number): void {
  setTimeout(() => (held ? leaveAfter(id, SHOWN_MS / 3) : dismissToast(id)), ms);
}

/** How many were done, and why others were not. */
export function toastOutcome({ done, refused }: Outcome, thing: string, past: string): void {
  const why = Object.values(refused);
  const detail = why.length ? `${plural(why.length, thing)} left alone: ${why[0] ?? ""}` : null;
  toast(`${plural(done, thing)} ${past}`, { detail, bad: done === 0 && why.length > 0 });
}

export function dismissToast(id: number): void {
  // What is taken away under the pointer never hears that the pointer left.
  held = false;
  toasts.value = toasts.value.filter((item) => item.id !== id);
}

/** Runs an action and tells of its failure; answers undefined then. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (caught) {
    const problem = asProblem(caught);
    toast(problem.detail || problem.title, { detail: problem.remedy, bad: true });
    return undefined;
  }
}

/** The same of an action whatever it answers: whether it was done. */
export async function done(work: () => Promise<unknown>): Promise<boolean> {
  return (await attempt(() => work().then(() => true))) ?? false;
}

/** Asks first. */
export async function doneIfConfirmed(asked: Question, work: () => Promise<unknown>): Promise<boolean> {
  return (await confirmed(asked)) && (await done(work));
}

export function confirmed(asked: Question): Promise<boolean> {
  question.value?.answer(false);
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer(yes) {
        question.value = null;
        resolve(yes);
      },
    };
  });
}
