-- name: search_source_put
-- Its row stays locked until the end, so two who write the same source do so one after the other.
INSERT INTO towpath.search_source (tenant, kind, id, title, language, facts, indexed_at)
VALUES (:tenant, :kind, :id, :title, :language, :facts, :now)
ON CONFLICT (tenant, kind, id) DO UPDATE
SET title = excluded.title, language = excluded.language, facts = excluded.facts, indexed_at = excluded.indexed_at
RETURNING number

-- name: search_source_lock
SELECT number FROM towpath.search_source WHERE tenant = :tenant AND kind = :kind AND id = :id FOR UPDATE

-- name: search_source_forget
DELETE FROM towpath.search_source WHERE number = :source

-- name: search_tags_forget
DELETE FROM towpath.search_tag WHERE source = :source

-- name: search_mentions_forget
DELETE FROM towpath.search_mention WHERE source = :source

-- name: search_vectors_forget
DELETE FROM towpath.search_vectors WHERE source = :source

-- name: search_passages_forget
DELETE FROM towpath.search_passage WHERE source = :source

-- name: search_vectors_add
INSERT INTO towpath.search_vectors (tenant, model, dimensions, source, packed)
VALUES (:tenant, :model, :dimensions, :source, :packed)

-- name: search_vectors_after
SELECT number, tenant, model, dimensions, source, packed FROM towpath.search_vectors WHERE number > :number
ORDER BY number LIMIT :limit
