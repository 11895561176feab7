/** Who and what is named, those in most passages first. */
import { shallowRef, type ShallowRef } from "vue";
import type { NamedEntity } from "@/api/types";
import { usePages, type Pages } from "@/composables/usePages";
import { listEntities } from "@/services/search/search";

export type Name = NamedEntity & { id: string };

export interface Names {
  list: Pages<Name>;
  /** The types that are found at all. */
  types: ShallowRef<string[]>;
}

/** `version` is what else makes it ask anew. */
export function useNames(
  asked: () => { type?: string; begins?: string; document?: string },
  version: () => unknown = () => null,
): Names {
  const types = shallowRef<string[]>([]);
  const list: Pages<Name> = usePages(
    async (cursor) => {
      const found = await listEntities(asked(), cursor);
      types.value = found.types;
      return { items: found.items.map((one) => ({ ...one, id: `${one.type}:${one.key}` })), next: found.next };
    },
    { watch: () => [asked(), version()] },
  );
  return { list, types };
}
