-- name: batch_add
INSERT INTO towpath.batch (id, tenant, lane, title, task_type, provider, models, settings, dataset_ids, retry_of, created_by,
                           creator, created_at)
VALUES (:id, :tenant, :lane, :title, :task_type, :provider, :models, :settings, :dataset_ids, :retry_of, :created_by,
        :creator, :now)

-- name: batches_by_id
SELECT id, tenant, lane, title, task_type, provider, models, settings, dataset_ids, count, invalid, ok, failed, invalid_inputs,
       estimate_cents, cost_cents, result_bytes, retry_of, created_by, creator, created_at, last_job, last_kind, last_state,
       last_error
FROM towpath.batch WHERE id IN :ids AND removed_at IS NULL

-- name: batches_page
SELECT id, tenant, lane, title, task_type, provider, models, settings, dataset_ids, count, invalid, ok, failed, invalid_inputs,
       estimate_cents, cost_cents, result_bytes, retry_of, created_by, creator, created_at, last_job, last_kind, last_state,
       last_error
FROM towpath.batch
WHERE removed_at IS NULL AND id < :before AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY id DESC LIMIT :limit

-- name: batches_page_with_option
-- Those that were made with an option of this name; `:option` is how it stands in the JSON.
SELECT id, tenant, lane, title, task_type, provider, models, settings, dataset_ids, count, invalid, ok, failed, invalid_inputs,
       estimate_cents, cost_cents, result_bytes, retry_of, created_by, creator, created_at, last_job, last_kind, last_state,
       last_error
FROM towpath.batch
WHERE removed_at IS NULL AND id < :before AND tenant = :tenant AND settings LIKE :option
ORDER BY id DESC LIMIT :limit

-- name: batches_retrying
-- Ids grow: what asks again is newer.
SELECT id FROM towpath.batch
WHERE tenant = :tenant AND id > :id AND retry_of = :id AND removed_at IS NULL
ORDER BY id DESC LIMIT 20

-- name: batches_known
SELECT id FROM towpath.batch WHERE id IN :ids

-- name: batch_was_read
UPDATE towpath.batch
SET count = :count, invalid = :invalid, invalid_inputs = :invalid_inputs, estimate_cents = :estimate_cents, models = :models
WHERE id = :id

-- name: batch_has_results
UPDATE towpath.batch SET ok = :ok, failed = :failed, cost_cents = :cost_cents, result_bytes = :result_bytes
WHERE id = :id AND removed_at IS NULL

-- name: batches_remove
UPDATE towpath.batch SET removed_at = coalesce(removed_at, :now) WHERE id IN :ids

-- name: batches_delete
DELETE FROM towpath.batch WHERE id IN :ids

-- name: batch_dataset_add
INSERT INTO towpath.batch_dataset (id, tenant, name, asset_id, source, batch_id, created_at)
VALUES (:id, :tenant, :name, :asset_id, :source, :batch_id, :now)

-- name: batch_datasets_by_id
SELECT id, tenant, name, asset_id, source, batch_id, created_at FROM towpath.batch_dataset WHERE tenant = :tenant AND id IN :ids

-- name: batch_datasets_known
SELECT id FROM towpath.batch_dataset WHERE id IN :ids

-- name: batch_datasets_found
SELECT id, tenant, name, asset_id, source, batch_id, created_at FROM towpath.batch_dataset WHERE id IN :ids

-- name: batch_datasets_page
SELECT id, tenant, name, asset_id, source, batch_id, created_at FROM towpath.batch_dataset
WHERE id < :before AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY id DESC LIMIT :limit

-- name: batches_naming
SELECT id FROM towpath.batch
WHERE tenant = :tenant AND removed_at IS NULL AND dataset_ids LIKE '%' || :dataset_id || '%'
ORDER BY id DESC LIMIT 1

-- name: batch_dataset_ids
SELECT dataset_ids FROM towpath.batch WHERE id = :batch_id

-- name: batch_datasets_done_with
-- Of these, which a batch names, those that came with some batch and that no other names.
SELECT id FROM towpath.batch_dataset AS dataset
WHERE id IN :ids AND batch_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM towpath.batch AS other
                  WHERE other.tenant = dataset.tenant AND other.id <> :batch_id AND other.removed_at IS NULL
                    AND other.dataset_ids LIKE '%' || dataset.id || '%')

-- name: batch_datasets_delete
DELETE FROM towpath.batch_dataset WHERE id IN :ids
