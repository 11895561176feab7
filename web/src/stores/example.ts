/** The example that a first start begins with: whether it is there, and away with it. */
import { ref } from "vue";
import { answer, client } from "@/services/client";
import { attempt, toast } from "@/stores/toasts";

export const examplePresent = ref(false);
/** Whether everything here is made up, and nothing of it can be removed. */
export const demonstration = ref(false);
export const removingExample = ref(false);

const MOST_TRIES = 5;

export async function lookForExample(): Promise<void> {
  const found = await answer(client.GET("/api/example"));
  [examplePresent.value, demonstration.value] = [found.present, found.demonstration];
}

/** What runs is stopped first, and may need a moment: then it is asked for again. */
export async function removeExample(): Promise<void> {
  removingExample.value = true;
  await attempt(async () => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      if (!(await answer(client.DELETE("/api/example"))).left) break;
    }
    await lookForExample();
    toast(examplePresent.value ? "Some jobs of the example are still being stopped" : "The example is gone");
  });
  removingExample.value = false;
}
