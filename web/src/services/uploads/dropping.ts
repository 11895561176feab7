/** Files out of what was dropped or chosen, folders included. */
import type { NewFile } from "@/services/uploads/engine";

/** What the file dialog offers first. The server looks at what a file is, not at its name. */
export const ACCEPTED = "audio/*,video/*,.mp3,.m4a,.mp4,.mov,.3gp,.ogg,.oga,.opus,.webm,.mkv,.flac,.wav,.amr,.aac";
const ENDINGS = new Set(ACCEPTED.split(",").filter((part) => part.startsWith(".")));

/** Whether a file found in a folder looks like a recording; one that was picked by hand is always taken. */
export function looksLikeMedia(name: string, type: string): boolean {
  const ending = /\.[^.]+$/.exec(name.toLowerCase())?.[0] ?? "";
  return !name.startsWith(".") && (/^(audio|video)\//.test(type) || ENDINGS.has(ending));
}

/** Whether a file of a folder is taken along, by its name and where it was. */
export type Fits = (file: File, path: string) => boolean;

const isMedia: Fits = (file) => looksLikeMedia(file.name, file.type);

/** Everything but what programs keep hidden: for whoever reads many kinds. */
export const isVisible: Fits = (_file, path) => !path.split("/").some((part) => part.startsWith("."));

export function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes("Files") ?? false;
}

/** What was chosen in a field for files, which is emptied: the same file can be chosen again. */
export function takeChosen(event: Event, fits: Fits = isMedia): NewFile[] {
  const input = event.target as HTMLInputElement;
  const chosen = fromChosen(input.files ?? [], fits);
  input.value = "";
  return chosen;
}

export function fromChosen(files: Iterable<File>, fits: Fits = isMedia): NewFile[] {
  return [...files]
    .map((file) => ({ file, path: file.webkitRelativePath || undefined }))
    .filter(({ file, path }) => !path || fits(file, path));
}

/** The entries must be taken before anything is awaited: what was dropped is gone after that. */
export async function fromDropped(transfer: DataTransfer, fits: Fits = isMedia): Promise<NewFile[]> {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry());
  if (!entries.some((entry) => entry?.isDirectory)) return [...transfer.files].map((file) => ({ file }));
  const found = await Promise.all(entries.map((entry) => (entry ? within(entry, fits, true) : [])));
  return found.flat();
}

async function within(entry: FileSystemEntry, fits: Fits, byHand = false): Promise<NewFile[]> {
  if (entry.isDirectory) {
    const inside = await children((entry as FileSystemDirectoryEntry).createReader());
    return (await Promise.all(inside.map((child) => within(child, fits)))).flat();
  }
  const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
  if (!byHand && !fits(file, entry.fullPath)) return [];
  return [{ file, path: byHand ? undefined : entry.fullPath }];
}

/** A reader gives a hundred at a time, and nothing when there are no more. */
async function children(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    found.push(...some);
  }
}
