/**
 * A filter that stands in the page's address, so that it survives a reload and can be passed on. The same question asks
 * nothing again, and another page's address changes nothing here.
 */
import { computed, ref, watch, type WritableComputedRef } from "vue";
import { useRoute, useRouter, type LocationQuery, type LocationQueryRaw } from "vue-router";

/** `page` is the name of the route. */
export function useAddressFilter<Filter>(
  page: string,
  read: (query: LocationQuery) => Filter,
  write: (filter: Filter) => LocationQueryRaw,
): WritableComputedRef<Filter> {
  const route = useRoute();
  const router = useRouter();
  const asked = ref(JSON.stringify(read(route.query)));
  watch(
    () => (route.name === page ? JSON.stringify(read(route.query)) : asked.value),
    (now) => (asked.value = now),
  );
  return computed({
    get: () => JSON.parse(asked.value) as Filter,
    set: (next) => void router.replace({ query: write(next) }),
  });
}
