-- What the right to listen hangs on, for many sessions and tokens at a time: who finds a row changed or gone looks closer.
-- name: grants_of
SELECT token.id, token.tenant, token.scopes, account.admin,
       (SELECT count(*) FROM towpath.membership AS own WHERE own.account_id = account.id) AS tenants,
       (SELECT count(*) FROM towpath.membership AS own WHERE own.account_id = account.id AND own.tenant = token.tenant) AS member
FROM towpath.token AS token JOIN towpath.account AS account ON account.id = token.account_id
WHERE token.id IN :ids AND (token.expires_at IS NULL OR token.expires_at > :now) AND account.disabled_at IS NULL
UNION ALL
SELECT session.id, session.tenant, '', account.admin,
       (SELECT count(*) FROM towpath.membership AS own WHERE own.account_id = account.id),
       (SELECT count(*) FROM towpath.membership AS own WHERE own.account_id = account.id AND own.tenant = session.tenant)
FROM towpath.session AS session JOIN towpath.account AS account ON account.id = session.account_id
WHERE session.id IN :ids AND session.idle_until > :now AND session.expires_at > :now AND account.disabled_at IS NULL
