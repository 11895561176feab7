/** A live list of jobs that belongs to a component: loaded when its filter changes, let go of with the component. */
import { onScopeDispose, shallowRef, watch, type ShallowRef, type WatchSource } from "vue";
import { apiFilter, matches, type JobFilters } from "@/services/filters";
import { listJobs } from "@/services/jobs";
import { createJobList, type JobList } from "@/stores/jobList";

export interface JobListOptions {
  /** Rows per request. */
  limit?: number;
  lingerMs?: number;
  cap?: number;
}

export function useJobList(filters: WatchSource<JobFilters>, options: JobListOptions = {}): ShallowRef<JobList> {
  const list = shallowRef<JobList>() as ShallowRef<JobList>;
  watch(
    filters,
    (chosen) => {
      list.value?.dispose();
      const asked = apiFilter(chosen, Date.now());
      list.value = createJobList({
        load: (after) => listJobs(asked, { after, limit: options.limit }),
        matches: (job) => matches(job, asked),
        lingerMs: options.lingerMs,
        cap: options.cap,
      });
      void list.value.loadMore();
    },
    { immediate: true },
  );
  onScopeDispose(() => list.value.dispose());
  return list;
}
