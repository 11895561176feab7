-- name: document_items_of_sources
-- The newest item of each source.
SELECT item.id, item.run_id, item.tenant, item.number, item.name, item.asset_id, item.address, item.source, item.settings,
       item.document_id, item.outcome, item.last_job, item.last_state, item.last_error
FROM towpath.document_item AS item
WHERE item.tenant = :tenant AND item.source IN :sources
  AND item.id = (SELECT max(other.id) FROM towpath.document_item AS other
                 WHERE other.tenant = :tenant AND other.source = item.source)
