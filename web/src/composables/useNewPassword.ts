/** A password that is chosen: typed twice, because nobody sees it. */
import { computed, ref, type ComputedRef, type Ref } from "vue";

export interface NewPassword {
  password: Ref<string>;
  again: Ref<string>;
  /** Whether both are there and not the same. */
  differs: ComputedRef<boolean>;
  clear(): void;
}

export function useNewPassword(): NewPassword {
  const password = ref("");
  const again = ref("");
  return {
    password,
    again,
    differs: computed(() => again.value !== "" && again.value !== password.value),
    clear: () => (password.value = again.value = ""),
  };
}
