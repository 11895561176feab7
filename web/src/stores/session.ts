/** Who is logged in, for which tenant, and what they may do. */
import { computed, ref, shallowRef } from "vue";
import type { Session } from "@/api/types";
import { whenUnauthenticated } from "@/services/client";
import { endSession, getSession, switchTenant } from "@/services/sessions";
import { asProblem, type Problem } from "@/services/problem";

export const session = shallowRef<Session | null>(null);
/** Why the session could not be asked for, other than that nobody is logged in. */
export const sessionProblem = ref<Problem | null>(null);

export const isAdmin = computed(() => session.value?.scopes.includes("admin") ?? false);
export const mayWrite = computed(() => session.value?.scopes.includes("write") ?? false);
export const mayPrioritise = computed(() => session.value?.scopes.includes("priority") ?? false);

/** The account and the tenant it acts for; what a browser keeps or shares between its tabs is kept under it. */
export const sessionName = computed(() => (session.value ? `${session.value.account.id}.${session.value.tenant}` : ""));

export async function loadSession(): Promise<void> {
  try {
    session.value = await getSession();
    sessionProblem.value = null;
  } catch (caught) {
    miss(asProblem(caught));
  }
}

/** A server that is away takes nobody's session; only its word does. */
function miss(problem: Problem): void {
  if (problem.status === 401) session.value = null;
  sessionProblem.value = problem.status === 401 || session.value ? null : problem;
}

export function enter(next: Session): void {
  session.value = next;
  sessionProblem.value = null;
}

// The server no longer knows this session; the app sends the reader to the log-in.
whenUnauthenticated(() => (session.value = null));

export async function leave(): Promise<void> {
  await endSession();
  session.value = null;
}

export async function actFor(tenant: string): Promise<void> {
  session.value = await switchTenant(tenant);
}
