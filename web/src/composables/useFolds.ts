/** Jobs that are unfolded in a list: their children stand below them, and move with the stream like any row. */
import { computed, effectScope, onScopeDispose, shallowReactive, watch, type ComputedRef, type EffectScope } from "vue";
import type { Job } from "@/api/types";
import { useChildren, type Children } from "@/composables/useChildren";

export interface JobLine {
  job: Job;
  /** 0 for the list's own rows. */
  depth: number;
  /** After the last of the children that are shown: there are more of this job's. */
  moreOf: Job | null;
}

export interface Folds {
  lines: ComputedRef<JobLine[]>;
  isOpen(id: string): boolean;
  toggle(job: Job): void;
}

interface Unfolded {
  children: Children;
  scope: EffectScope;
}

export function useFolds(rows: () => readonly Job[]): Folds {
  const open = shallowReactive(new Map<string, Unfolded>());

  function toggle(job: Job): void {
    if (open.has(job.id)) return fold(job.id);
    const scope = effectScope(true);
    const children = scope.run(() => useChildren(job.id, () => job.children?.total ?? 0)) as Children;
    open.set(job.id, { children, scope });
  }

  function fold(id: string): void {
    open.get(id)?.scope.stop();
    open.delete(id);
  }

  function linesOf(job: Job, depth: number): JobLine[] {
    const own: JobLine = { job, depth, moreOf: null };
    const unfolded = open.get(job.id);
    if (!unfolded) return [own];
    const { rows: children, more } = unfolded.children;
    const below = children.value.flatMap((child) => linesOf(child, depth + 1));
    const last = below.at(-1);
    if (last && more.value) last.moreOf = job;
    return [own, ...below];
  }

  const lines = computed(() => rows().flatMap((job) => linesOf(job, 0)));

  /** What has left the list is folded. */
  watch(lines, (now) => {
    const shown = new Set(now.map(({ job }) => job.id));
    for (const id of open.keys()) if (!shown.has(id)) fold(id);
  });
  onScopeDispose(() => [...open.keys()].forEach(fold));

  return { lines, isOpen: (id) => open.has(id), toggle };
}
