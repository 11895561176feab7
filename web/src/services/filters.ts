/** Which jobs are shown, as the address bar tells it: every view of the list can be linked to and come back to. */
import type { LocationQuery, LocationQueryRaw } from "vue-router";
import type { Job, JobState } from "@/api/types";
import { STATES } from "@/format/words";

export interface JobFilters {
  state: JobState[];
  operation: string;
  queue: string;
  tenant: string;
  text: string;
  parent: string;
  root: string;
  after: string;
  before: string;
  /** "flat": children stand among the others; empty: they are folded below their parents, where nothing singles them out. */
  view: string;
}

export const NO_FILTERS: Readonly<JobFilters> = {
  state: [],
  operation: "",
  queue: "",
  tenant: "",
  text: "",
  parent: "",
  root: "",
  after: "",
  before: "",
  view: "",
};

const WORDS = ["operation", "queue", "tenant", "text", "parent", "root", "after", "before", "view"] as const;

/** Reads what it understands and leaves the rest: a link with a typo still shows a list. */
export function filtersFromQuery(query: LocationQuery): JobFilters {
  const filters: JobFilters = { ...NO_FILTERS, state: [] };
  const asked = new Set([query.state].flat());
  filters.state = STATES.filter((state) => asked.has(state));
  for (const word of WORDS) {
    const value = [query[word]].flat()[0];
    if (typeof value === "string") filters[word] = value.trim();
  }
  if (filters.view !== "flat") filters.view = "";
  return filters;
}

/** Only what is set, in a fixed order, so that the same view always has the same address. */
export function queryFromFilters(filters: JobFilters): LocationQueryRaw {
  const query: LocationQueryRaw = {};
  if (filters.state.length) query.state = STATES.filter((state) => filters.state.includes(state));
  for (const word of WORDS) if (filters[word]) query[word] = filters[word];
  return query;
}

export function isFiltered(filters: JobFilters): boolean {
  return Object.keys(queryFromFilters(filters)).length > 0;
}

/** Whether only roots are listed: whoever looks for a state, an operation or words means children, too. */
export function isFolded({ state, operation, queue, text, parent, root, view }: JobFilters): boolean {
  return view !== "flat" && !state.length && ![operation, queue, text, parent, root].some(Boolean);
}

const WINDOWS: Record<string, number> = { "15m": 15, "1h": 60, "24h": 1440, "7d": 10_080 };

/** A window such as "1h" means "from an hour ago"; anything else is a moment. */
export function momentOf(value: string, now: number): string | undefined {
  const minutes = WINDOWS[value];
  if (minutes !== undefined) return new Date(now - minutes * 60_000).toISOString();
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

export interface ApiFilter {
  state?: JobState[];
  operation?: string;
  queue?: string;
  tenant?: string;
  text?: string;
  parent?: string;
  root?: string;
  roots?: boolean;
  created_after?: string;
  created_before?: string;
}

export function apiFilter(filters: JobFilters, now: number): ApiFilter {
  const asked: ApiFilter = {};
  if (filters.state.length) asked.state = filters.state;
  for (const word of ["operation", "queue", "tenant", "text", "parent", "root"] as const) {
    if (filters[word]) asked[word] = filters[word];
  }
  if (isFolded(filters)) asked.roots = true;
  const [after, before] = [momentOf(filters.after, now), momentOf(filters.before, now)];
  if (after) asked.created_after = after;
  if (before) asked.created_before = before;
  return asked;
}

/** The same question the server answers, for a row that was pushed. */
export function matches(job: Job, asked: ApiFilter): boolean {
  if (asked.state && !asked.state.includes(job.state)) return false;
  if (asked.operation && job.operation !== asked.operation) return false;
  if (asked.queue && job.queue !== asked.queue) return false;
  if (asked.tenant && job.tenant !== asked.tenant) return false;
  if (asked.parent && job.parent_id !== asked.parent) return false;
  if (asked.root && job.root_id !== asked.root) return false;
  if (asked.roots && job.parent_id) return false;
  if (asked.created_after && Date.parse(job.created_at) < Date.parse(asked.created_after)) return false;
  if (asked.created_before && Date.parse(job.created_at) >= Date.parse(asked.created_before)) return false;
  return !asked.text || hasText(job, asked.text.toLowerCase());
}

function hasText(job: Job, text: string): boolean {
  if (job.id.startsWith(text)) return true;
  const places = [job.key, job.operation, job.state === "failed" ? job.error?.message : null];
  return places.some((place) => place?.toLowerCase().includes(text));
}
