/**
 * What the microphone hears, in this browser's IndexedDB, piece by piece as it comes: a tab that is closed or a battery that runs
 * out loses only the piece that was not full yet. A take stays here until its file is on the server.
 */
import type { UploadOptions } from "@/services/uploads/row";

export interface Take {
  id: string;
  /** Whose it is: accounts that share a browser do not share takes. */
  owner: string;
  /** Of the file that it becomes, with its ending; no two takes have the same. */
  name: string;
  type: string;
  begunAt: number;
  options: UploadOptions;
  /** It was given to the uploads, which may have sent it already. */
  handed: boolean;
}

const NAME = "towpath.microphone";
/** Not only handed to the system: written, as far as a browser can say. */
const SAFE: IDBTransactionOptions = { durability: "strict" };

let opening: Promise<IDBDatabase> | null = null;

function database(): Promise<IDBDatabase> {
  opening ??= new Promise((resolve, reject) => {
    const asked = indexedDB.open(NAME, 1);
    asked.onupgradeneeded = () => {
      asked.result.createObjectStore("takes", { keyPath: "id" });
      asked.result.createObjectStore("pieces", { keyPath: ["take", "number"] });
    };
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error ?? new Error("this browser keeps nothing"));
  });
  return opening;
}

async function written(stores: string[], change: (stores: (name: string) => IDBObjectStore) => void): Promise<void> {
  const transaction = (await database()).transaction(stores, "readwrite", SAFE);
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("nothing was written"));
    change((name) => transaction.objectStore(name));
  });
}

async function asked<T>(store: string, question: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const request = question((await database()).transaction(store).objectStore(store));
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("nothing could be read"));
  });
}

const piecesOf = (id: string): IDBKeyRange => IDBKeyRange.bound([id, 0], [id, Infinity]);

export function keepTake(take: Take): Promise<void> {
  return written(["takes"], (store) => void store("takes").put(take));
}

export function keepPiece(take: string, number: number, data: Blob): Promise<void> {
  return written(["pieces"], (store) => void store("pieces").put({ take, number, data }));
}

export function dropTake(id: string): Promise<void> {
  return written(["takes", "pieces"], (store) => {
    store("takes").delete(id);
    store("pieces").delete(piecesOf(id));
  });
}

/** Those of a person that are still in this browser; none where it keeps nothing. */
export async function takesOf(owner: string): Promise<Take[]> {
  const found = await asked<Take[]>("takes", (store) => store.getAll() as IDBRequest<Take[]>).catch(() => []);
  return found.filter((take) => take.owner === owner);
}

/** All that was heard of it, as one file; null if nothing was. */
export async function fileOf(take: Take): Promise<File | null> {
  const found = await asked<{ data: Blob }[]>(
    "pieces",
    (store) => store.getAll(piecesOf(take.id)) as IDBRequest<{ data: Blob }[]>,
  );
  const data = found.map((piece) => piece.data);
  return data.some((piece) => piece.size)
    ? new File(data, take.name, { type: take.type, lastModified: take.begunAt })
    : null;
}
