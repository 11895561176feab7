-- name: search_words_forget
DELETE FROM towpath.search_words WHERE source = :source

-- name: search_tags_add
INSERT INTO towpath.search_tag (tenant, tag, source)
SELECT CAST(:tenant AS text), tag, CAST(:source AS bigint) FROM unnest(CAST(:tags AS text[])) AS tag

-- name: search_passages_add
INSERT INTO towpath.search_passage (tenant, source, ordinal, text, page, second, lasts, starts, ends, tokens, length, moments)
SELECT CAST(:tenant AS text), CAST(:source AS bigint), item.place - 1, item.value ->> 0, (item.value ->> 1)::int,
       (item.value ->> 2)::float8, (item.value ->> 3)::float8, (item.value ->> 4)::int, (item.value ->> 5)::int,
       (item.value ->> 6)::int, (item.value ->> 7)::int, item.value ->> 8
FROM json_array_elements(CAST(:rows AS json)) WITH ORDINALITY AS item (value, place)
ORDER BY item.place

-- name: search_words_add
INSERT INTO towpath.search_words (passage, source, words)
SELECT passage.number, passage.source, CAST(item.document AS tsvector)
FROM unnest(CAST(:documents AS text[])) WITH ORDINALITY AS item (document, place)
JOIN towpath.search_passage AS passage ON passage.source = :source AND passage.ordinal = item.place - 1

-- name: search_mentions_add
INSERT INTO towpath.search_mention (tenant, type, key, source, passage, value, starts, ends)
SELECT CAST(:tenant AS text), item.value ->> 1, item.value ->> 2, passage.source, passage.number, item.value ->> 3,
       (item.value ->> 4)::int, (item.value ->> 5)::int
FROM json_array_elements(CAST(:mentions AS json)) AS item (value)
JOIN towpath.search_passage AS passage ON passage.source = :source AND passage.ordinal = (item.value ->> 0)::int
ON CONFLICT DO NOTHING

-- name: search_database
SELECT 'postgres' AS dialect, to_regclass('towpath.search_near') IS NOT NULL AS near

-- name: search_near_make
SELECT towpath.search_make_near() AS made

-- name: search_near_index
SELECT towpath.search_index_near(:model, :dimensions)

-- name: search_near_add
INSERT INTO towpath.search_near (passage, source, tenant, model, embedding)
SELECT passage.number, passage.source, CAST(:tenant AS text), CAST(:model AS text), CAST(item.embedding AS halfvec)
FROM unnest(CAST(:ordinals AS int[]), CAST(:embeddings AS text[])) AS item (ordinal, embedding)
JOIN towpath.search_passage AS passage ON passage.source = :source AND passage.ordinal = item.ordinal

-- name: search_near_forget
DELETE FROM towpath.search_near WHERE source = :source

-- name: search_lexemes_of
SELECT DISTINCT lexeme FROM towpath.search_words, unnest(tsvector_to_array(words)) AS lexeme WHERE source = :source

-- name: search_lexemes_add
-- In one order, so that two who add the same words do not wait for each other in a circle.
INSERT INTO towpath.search_term (lexeme)
SELECT item.word FROM unnest(CAST(:lexemes AS text[])) AS item (word)
WHERE NOT EXISTS (SELECT FROM towpath.search_term AS term WHERE term.lexeme = item.word)
ORDER BY item.word ON CONFLICT DO NOTHING

-- name: search_lexemes_forget
-- Those that no passage has any more.
DELETE FROM towpath.search_term AS term
WHERE term.lexeme = ANY (CAST(:lexemes AS text[]))
  AND NOT EXISTS (SELECT FROM towpath.search_words AS own WHERE own.words @@ CAST(quote_literal(term.lexeme) AS tsquery))
