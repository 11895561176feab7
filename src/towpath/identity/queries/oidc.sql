-- name: oidc_flow_add
INSERT INTO towpath.oidc_flow (state_hash, browser_hash, nonce, verifier, expires_at)
VALUES (:state_hash, :browser_hash, :nonce, :verifier, :expires_at)
ON CONFLICT DO NOTHING

-- name: oidc_flow_take
DELETE FROM towpath.oidc_flow WHERE state_hash = :state_hash AND browser_hash = :browser_hash AND expires_at > :now
RETURNING nonce, verifier

-- name: oidc_flows_forget
DELETE FROM towpath.oidc_flow WHERE expires_at < :now

-- name: oidc_account_of
SELECT account_id FROM towpath.oidc_account WHERE issuer = :issuer AND subject = :subject

-- name: oidc_account_add
INSERT INTO towpath.oidc_account (issuer, subject, account_id, created_at) VALUES (:issuer, :subject, :account_id, :now)

-- name: oidc_accounts_delete
DELETE FROM towpath.oidc_account WHERE account_id = :account_id
