/** Makes the whole page a place to drop files on, while the component is there. */
import { onMounted, onScopeDispose, ref, type Ref } from "vue";
import type { NewFile } from "@/services/uploads/engine";
import { fromDropped, hasFiles, type Fits } from "@/services/uploads/dropping";

/** True while files are dragged over the page. */
export function useDrop(onFiles: (files: NewFile[]) => void, fits?: Fits): Readonly<Ref<boolean>> {
  const over = ref(false);
  /** Every element that is entered is left again; the page is left when all are. */
  let depth = 0;

  function enter(event: DragEvent): void {
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    depth += 1;
    over.value = true;
  }

  function move(event: DragEvent): void {
    if (!hasFiles(event.dataTransfer) || !event.dataTransfer) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  }

  function leave(event: DragEvent): void {
    if (!hasFiles(event.dataTransfer)) return;
    depth = Math.max(0, depth - 1);
    over.value = depth > 0;
  }

  function drop(event: DragEvent): void {
    depth = 0;
    over.value = false;
    if (!hasFiles(event.dataTransfer) || !event.dataTransfer) return;
    event.preventDefault();
    void fromDropped(event.dataTransfer, fits).then(onFiles);
  }

  const handlers = { dragenter: enter, dragover: move, dragleave: leave, drop } as const;
  onMounted(() => {
    for (const [name, act] of Object.entries(handlers)) window.addEventListener(name as "drop", act);
  });
  onScopeDispose(() => {
    for (const [name, act] of Object.entries(handlers)) window.removeEventListener(name as "drop", act);
  });
  return over;
}
