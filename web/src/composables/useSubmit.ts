/** Sending a form: one at a time, and what went wrong stays beside it until it is sent again. */
import { ref, type Ref } from "vue";
import { asProblem, type Problem } from "@/services/problem";

export interface Submit {
  busy: Ref<boolean>;
  problem: Ref<Problem | null>;
  /** Answers whether it was done. */
  submit(work: () => Promise<unknown>): Promise<boolean>;
  /** What the server says about one field. */
  about(path: string): string | null;
}

/** `take` may show a problem elsewhere, such as beside the fields of a payload, and says whether it did. */
export function useSubmit(take: (problem: Problem) => boolean = () => false): Submit {
  const busy = ref(false);
  const problem = ref<Problem | null>(null);

  async function submit(work: () => Promise<unknown>): Promise<boolean> {
    if (busy.value) return false;
    busy.value = true;
    problem.value = null;
    try {
      await work();
      return true;
    } catch (caught) {
      const found = asProblem(caught);
      if (!take(found)) problem.value = found;
      return false;
    } finally {
      busy.value = false;
    }
  }

  function about(path: string): string | null {
    return problem.value?.errors.find((error) => error.path.endsWith(path))?.message ?? null;
  }

  return { busy, problem, submit, about };
}
