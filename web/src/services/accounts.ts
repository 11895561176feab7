import type {
  AuditLine,
  NewSpendLimit,
  NewToken,
  NewUser,
  OpenSession,
  Prices,
  ResetLink,
  SpendLimit,
  Token,
  TokenRequest,
  User,
  UserChange,
} from "@/api/types";
import { answer, client } from "@/services/client";
import type { Page } from "@/services/jobs";

export function listSessions(): Promise<OpenSession[]> {
  return answer(client.GET("/api/sessions"));
}

export async function endOpenSession(id: string): Promise<void> {
  await answer(client.DELETE("/api/sessions/{session_id}", { params: { path: { session_id: id } } }));
}

export function listTokens(after: string | null = null): Promise<Page<Token>> {
  return answer(client.GET("/api/tokens", { params: { query: { after: after ?? undefined, limit: 100 } } }));
}

export function createToken(body: TokenRequest): Promise<NewToken> {
  return answer(client.POST("/api/tokens", { body }));
}

export async function revokeToken(id: string): Promise<void> {
  await answer(client.DELETE("/api/tokens/{token_id}", { params: { path: { token_id: id } } }));
}

export function listUsers(after: string | null = null): Promise<Page<User>> {
  return answer(client.GET("/api/users", { params: { query: { after: after ?? undefined, limit: 100 } } }));
}

export function createUser(body: NewUser): Promise<User> {
  return answer(client.POST("/api/users", { body }));
}

export function updateUser(id: string, body: UserChange): Promise<User> {
  return answer(client.PATCH("/api/users/{user_id}", { params: { path: { user_id: id } }, body }));
}

export async function deleteUser(id: string): Promise<void> {
  await answer(client.DELETE("/api/users/{user_id}", { params: { path: { user_id: id } } }));
}

export function createResetLink(id: string): Promise<ResetLink> {
  return answer(client.POST("/api/users/{user_id}/reset-link", { params: { path: { user_id: id } } }));
}

export function getPrices(): Promise<Prices> {
  return answer(client.GET("/api/settings/prices"));
}

export function setPrices(body: Prices): Promise<Prices> {
  return answer(client.PUT("/api/settings/prices", { body }));
}

/** Limits have no id but their tenant's name. */
export async function listLimits(after: string | null = null): Promise<Page<SpendLimit & { id: string }>> {
  const page = await answer(client.GET("/api/limits", { params: { query: { after: after ?? undefined, limit: 100 } } }));
  return { ...page, items: page.items.map((limit) => ({ ...limit, id: limit.tenant })) };
}

export function setLimit(tenant: string, body: NewSpendLimit): Promise<SpendLimit> {
  return answer(client.PUT("/api/limits/{tenant}", { params: { path: { tenant } }, body }));
}

export async function clearLimit(tenant: string): Promise<void> {
  await answer(client.DELETE("/api/limits/{tenant}", { params: { path: { tenant } } }));
}

export function listAudit(after: string | null = null): Promise<Page<AuditLine>> {
  return answer(client.GET("/api/audit", { params: { query: { after: after ?? undefined, limit: 100 } } }));
}
