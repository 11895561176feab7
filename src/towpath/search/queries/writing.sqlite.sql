-- name: search_words_forget
DELETE FROM towpath.search_words WHERE rowid IN (SELECT number FROM towpath.search_passage WHERE source = :source)

-- name: search_tags_add
INSERT INTO towpath.search_tag (tenant, tag, source) SELECT :tenant, value, :source FROM json_each(:tags)

-- name: search_passages_add
INSERT INTO towpath.search_passage (tenant, source, ordinal, text, page, second, lasts, starts, ends, tokens, length, moments)
SELECT :tenant, :source, key, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
       json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'), json_extract(value, '$[6]'),
       json_extract(value, '$[7]'), json_extract(value, '$[8]')
FROM json_each(:rows) ORDER BY key

-- name: search_words_add
-- A CROSS JOIN is made in the order in which it is written: the list is walked once, not once for each passage.
INSERT INTO towpath.search_words (rowid, terms)
SELECT passage.number, item.value FROM json_each(:documents) AS item
CROSS JOIN towpath.search_passage AS passage ON passage.source = :source AND passage.ordinal = item.key

-- name: search_mentions_add
INSERT INTO towpath.search_mention (tenant, type, key, source, passage, value, starts, ends)
SELECT :tenant, json_extract(item.value, '$[1]'), json_extract(item.value, '$[2]'), :source, passage.number,
       json_extract(item.value, '$[3]'), json_extract(item.value, '$[4]'), json_extract(item.value, '$[5]')
FROM json_each(:mentions) AS item
CROSS JOIN towpath.search_passage AS passage ON passage.source = :source AND passage.ordinal = json_extract(item.value, '$[0]')
WHERE true ON CONFLICT DO NOTHING

-- name: search_database
SELECT 'sqlite' AS dialect, 0 AS near

-- name: search_near_make
SELECT 0 AS made

-- name: search_near_index
SELECT 0

-- name: search_near_add
SELECT 0

-- name: search_near_forget
SELECT 0

-- name: search_lexemes_of
-- FTS5 has a vocabulary of its own.
SELECT NULL AS lexeme WHERE false

-- name: search_lexemes_add
SELECT 0

-- name: search_lexemes_forget
SELECT 0
