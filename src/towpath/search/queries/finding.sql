-- name: search_languages
-- One step in the index for each language, however many sources there are.
WITH RECURSIVE spoken (language) AS (
    SELECT min(language) FROM towpath.search_source WHERE tenant = :tenant
    UNION ALL
    SELECT (SELECT min(more.language) FROM towpath.search_source AS more
            WHERE more.tenant = :tenant AND more.language > spoken.language)
    FROM spoken WHERE spoken.language IS NOT NULL
)
SELECT language FROM spoken WHERE language IS NOT NULL

-- name: search_size
-- How many passages a tenant has, as far as it matters for how rare a word is.
SELECT count(*) AS passages FROM (SELECT number FROM towpath.search_passage WHERE tenant = :tenant LIMIT :most) AS own

-- name: search_sources_of_kind
SELECT number FROM towpath.search_source WHERE tenant = :tenant AND kind = :kind

-- name: search_sources_by_id
SELECT number FROM towpath.search_source WHERE tenant = :tenant AND kind = :kind AND id IN :ids

-- name: search_sources_tagged
SELECT source AS number FROM towpath.search_tag WHERE tenant = :tenant AND tag = :tag

-- name: search_sources_mentioning
SELECT DISTINCT source AS number FROM towpath.search_mention WHERE tenant = :tenant AND type = :type AND key = :key

-- name: search_passages_by_number
SELECT passage.number, passage.ordinal, passage.text, passage.page, passage.second, passage.lasts, passage.starts, passage.ends,
       passage.moments,       source.kind, source.id, source.title, source.facts, source.language
FROM towpath.search_passage AS passage
JOIN towpath.search_source AS source ON source.number = passage.source
WHERE passage.number IN :numbers AND passage.tenant = :tenant

-- name: search_passages_around
SELECT passage.number, passage.ordinal, passage.text, passage.page, passage.second, passage.lasts, passage.starts, passage.ends,
       passage.moments,       source.kind, source.id, source.title, source.facts, source.language
FROM towpath.search_source AS source
JOIN towpath.search_passage AS passage ON passage.source = source.number
WHERE source.tenant = :tenant AND source.kind = :kind AND source.id = :id
  AND passage.ordinal >= :first AND passage.ordinal <= :last
ORDER BY passage.ordinal

-- name: search_vectors_by_number
SELECT number, source, packed FROM towpath.search_vectors WHERE number IN :numbers ORDER BY number

-- name: search_entities
SELECT type, key, min(value) AS value, count(DISTINCT passage) AS passages, count(DISTINCT source) AS sources
FROM towpath.search_mention
WHERE tenant = :tenant AND type IN :types AND lower(key) LIKE :begins ESCAPE '\'
GROUP BY type, key
ORDER BY count(DISTINCT passage) DESC, type, key
LIMIT :limit OFFSET :skipped

-- name: search_entities_of
-- The same of one source.
SELECT mention.type, mention.key, min(mention.value) AS value, count(DISTINCT mention.passage) AS passages, 1 AS sources
FROM towpath.search_source AS source
JOIN towpath.search_mention AS mention ON mention.source = source.number
WHERE source.tenant = :tenant AND source.kind = :kind AND source.id = :id
  AND mention.type IN :types AND lower(mention.key) LIKE :begins ESCAPE '\'
GROUP BY mention.type, mention.key
ORDER BY count(DISTINCT mention.passage) DESC, mention.type, mention.key
LIMIT :limit OFFSET :skipped

-- name: search_entity_sources
SELECT source.kind, source.id, source.title, source.facts, found.passages
FROM (
    SELECT mention.source, count(DISTINCT mention.passage) AS passages
    FROM towpath.search_mention AS mention
    WHERE mention.tenant = :tenant AND mention.type = :type AND mention.key = :key
    GROUP BY mention.source
) AS found
JOIN towpath.search_source AS source ON source.number = found.source
ORDER BY found.passages DESC, found.source
LIMIT :limit OFFSET :skipped

-- name: search_mentions_of
SELECT mention.type, mention.key, mention.value, mention.starts, mention.ends, passage.ordinal
FROM towpath.search_source AS source
JOIN towpath.search_mention AS mention ON mention.source = source.number
JOIN towpath.search_passage AS passage ON passage.number = mention.passage
WHERE source.tenant = :tenant AND source.kind = :kind AND source.id = :id AND mention.type IN :types
ORDER BY passage.ordinal, mention.starts
