import type { Methods, Session } from "@/api/types";
import { answer, client } from "@/services/client";
import { underBase } from "@/services/base";

export function getSession(): Promise<Session> {
  return answer(client.GET("/api/session"));
}

export function logIn(name: string, password: string): Promise<Session> {
  return answer(client.POST("/api/session", { body: { name, password } }));
}

export function logInByLink(token: string): Promise<Session> {
  return answer(client.POST("/api/session/link", { body: { token } }));
}

export async function endSession(): Promise<void> {
  await answer(client.DELETE("/api/session"));
}

export function switchTenant(tenant: string): Promise<Session> {
  return answer(client.POST("/api/session/tenant", { body: { tenant } }));
}

export async function changePassword(current: string | null, next: string, revokeTokens: boolean): Promise<void> {
  await answer(client.POST("/api/session/password", { body: { current, new: next, revoke_tokens: revokeTokens } }));
}

export function resetPassword(token: string, password: string, revokeTokens: boolean): Promise<Session> {
  return answer(client.POST("/api/session/reset", { body: { token, password, revoke_tokens: revokeTokens } }));
}

export function getMethods(): Promise<Methods> {
  return answer(client.GET("/api/auth/methods"));
}

/** A page of its own, not a request: it leads to the identity provider and back. */
export function oidcAddress(): string {
  return underBase("api/auth/oidc/login");
}
