-- name: asset_usage
SELECT bytes, assets FROM towpath.asset_usage WHERE tenant = :tenant

-- name: asset_usage_begin
INSERT INTO towpath.asset_usage (tenant, bytes, assets) VALUES (:tenant, 0, 0) ON CONFLICT (tenant) DO NOTHING

-- name: asset_usage_change
-- Zero rows: it would be more than the quota; 0 is no quota. What becomes less always fits.
UPDATE towpath.asset_usage SET bytes = bytes + :bytes, assets = assets + :assets
WHERE tenant = :tenant AND (:quota = 0 OR :bytes <= 0 OR bytes + :bytes <= :quota)

-- name: asset_usage_lock
-- Whoever counts what a tenant takes up does so one after the other.
SELECT tenant FROM towpath.asset_usage WHERE tenant = :tenant FOR UPDATE
