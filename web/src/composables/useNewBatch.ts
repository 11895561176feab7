/** Sending a new batch: what is missing is said once somebody has tried, and where it was made its page opens. */
import { computed, ref, type ComputedRef } from "vue";
import { useRouter } from "vue-router";
import type { MadeBatch } from "@/api/types";
import { useSubmit, type Submit } from "@/composables/useSubmit";
import { toast } from "@/stores/toasts";

export interface NewBatch extends Pick<Submit, "busy" | "problem" | "about"> {
  complaint: ComputedRef<string | null>;
  send(): Promise<void>;
}

export function useNewBatch(missing: () => string | null, make: () => Promise<MadeBatch>): NewBatch {
  const router = useRouter();
  const { busy, problem, submit, about } = useSubmit();
  const tried = ref(false);
  const complaint = computed(() => (tried.value ? missing() : null));

  async function send(): Promise<void> {
    tried.value = true;
    if (missing() !== null) return;
    await submit(async () => {
      const made = await make();
      toast("The batch is queued");
      await router.push({ name: "batch", params: { id: made.id } });
    });
  }

  return { busy, problem, about, complaint, send };
}
