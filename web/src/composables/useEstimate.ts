/** What a batch may cost, asked for after a pause in writing it; an answer to what was written before is dropped. */
import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from "vue";
import type { Estimate, EstimateRequest } from "@/api/types";
import { estimateBatch } from "@/services/batches/batch";
import { asProblem, type Problem } from "@/services/problem";

export interface EstimateView {
  estimate: ShallowRef<Estimate | null>;
  problem: Ref<Problem | null>;
  asking: Ref<boolean>;
}

const PAUSE_MS = 400;

export function useEstimate(wanted: () => EstimateRequest | null): EstimateView {
  const estimate = shallowRef<Estimate | null>(null);
  const problem = ref<Problem | null>(null);
  const asking = ref(false);
  let asked = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function ask(request: EstimateRequest, mine: number): Promise<void> {
    try {
      const answer = await estimateBatch(request);
      if (mine === asked) [estimate.value, problem.value] = [answer, null];
    } catch (caught) {
      if (mine === asked) [estimate.value, problem.value] = [null, asProblem(caught)];
    }
    if (mine === asked) asking.value = false;
  }

  watch(
    () => JSON.stringify(wanted()),
    () => {
      clearTimeout(timer);
      const request = wanted();
      const mine = ++asked;
      asking.value = request !== null;
      if (request === null) [estimate.value, problem.value] = [null, null];
      else timer = setTimeout(() => void ask(request, mine), PAUSE_MS);
    },
    { immediate: true },
  );
  onScopeDispose(() => {
    asked += 1;
    clearTimeout(timer);
  });
  return { estimate, problem, asking };
}
