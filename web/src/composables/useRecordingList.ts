/** A live list of recordings that belongs to a component: loaded anew when its filter changes. */
import { onScopeDispose, shallowRef, watch, type ShallowRef, type WatchSource } from "vue";
import { listRecordings, type RecordingFilter } from "@/services/recordingList";
import { createRecordingList, type RecordingList } from "@/stores/recordings";

export function useRecordingList(filter: WatchSource<RecordingFilter>): ShallowRef<RecordingList> {
  const list = shallowRef<RecordingList>() as ShallowRef<RecordingList>;
  watch(
    filter,
    (asked) => {
      list.value?.dispose();
      list.value = createRecordingList({ load: (after) => listRecordings(asked, after) });
      void list.value.loadMore();
    },
    { immediate: true },
  );
  onScopeDispose(() => list.value.dispose());
  return list;
}
