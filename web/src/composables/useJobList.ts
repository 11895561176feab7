/** A live list of jobs that belongs to a component: begun anew when its filter changes, let go of with the component. */
import { effectScope, onScopeDispose, shallowRef, watch, type EffectScope, type ShallowRef, type WatchSource } from "vue";
import { useLiveJobs, type JobList, type JobSource } from "@/composables/useLiveJobs";
import { apiFilter, matches, type JobFilters } from "@/services/filters";
import { listJobs } from "@/services/jobs";

export interface JobListOptions extends Pick<JobSource, "lingerMs" | "cap"> {
  /** Rows per request. */
  limit?: number;
}

export function useJobList(
  filters: WatchSource<JobFilters>,
  { limit, ...options }: JobListOptions = {},
): ShallowRef<JobList> {
  const list = shallowRef<JobList>() as ShallowRef<JobList>;
  let scope: EffectScope | undefined;

  function begin(chosen: JobFilters): JobList {
    const asked = apiFilter(chosen, Date.now());
    return useLiveJobs({
      load: (after) => listJobs(asked, { after, limit }),
      matches: (job) => matches(job, asked),
      ...options,
    });
  }

  watch(
    filters,
    (chosen) => {
      scope?.stop();
      scope = effectScope(true);
      list.value = scope.run(() => begin(chosen)) as JobList;
    },
    { immediate: true },
  );
  onScopeDispose(() => scope?.stop());
  return list;
}
