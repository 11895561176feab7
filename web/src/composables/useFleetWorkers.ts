/**
 * Remote workers, for administrators. Who came, went, or has another number of busy slots is pushed; what each came to is
 * asked for now and then.
 */
import type { FleetWorker } from "@/api/types";
import { useLiveQuery, type LiveQuery } from "@/composables/useLiveQuery";
import { listWorkers } from "@/services/fleet/fleet";
import { workersIn } from "@/services/fleet/news";
import { withNews } from "@/services/news";
import { isAdmin } from "@/stores/session";

const AT_ONCE_MS = 300;
const FIGURES_MS = 5000;

export function useFleetWorkers(): LiveQuery<FleetWorker[]> {
  const workers: LiveQuery<FleetWorker[]> = useLiveQuery(() => (isAdmin.value ? listWorkers() : Promise.resolve([])), {
    watch: isAdmin,
    pollMs: 30_000,
    after(pushed) {
      const news = workersIn(pushed);
      if (!news.length) return null;
      workers.amend((rows) => withNews(rows, news));
      const shown = new Set((workers.data.value ?? []).map(({ id }) => id));
      return news.some(({ id }) => !shown.has(id)) ? AT_ONCE_MS : FIGURES_MS;
    },
  });
  return workers;
}
