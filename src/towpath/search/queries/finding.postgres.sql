-- name: search_lexeme_counts
-- How many passages have each; a common word is not counted to its end.
SELECT asked.lexeme, (
    SELECT count(*) FROM (
        SELECT FROM towpath.search_words AS own WHERE own.words @@ CAST(quote_literal(asked.lexeme) AS tsquery) LIMIT :most
    ) AS first_ones
) AS passages
FROM unnest(CAST(:lexemes AS text[])) AS asked (lexeme)

-- name: search_lexemes_between
SELECT lexeme FROM towpath.search_term WHERE lexeme >= CAST(:low AS text) AND lexeme < CAST(:high AS text) LIMIT 20000

-- name: search_words_found
-- As BM25 counts: a rare word is worth more than a common one, the second time less than the first, and long passages have to say
-- it more often. ts_rank of a single word tells how often: 0.0608 for once, growing to 0.1.
WITH hit AS MATERIALIZED (
    SELECT own.passage, own.words, 0.4 + 0.6 * passage.length / avg(passage.length) OVER () AS size
    FROM towpath.search_words AS own
    JOIN towpath.search_passage AS passage ON passage.number = own.passage
    WHERE own.words @@ CAST(:matches AS tsquery) AND passage.tenant = :tenant
      AND (:everywhere OR own.source = ANY (CAST(:sources AS bigint[])))
)
SELECT hit.passage AS number, (
    SELECT sum(term.weight * ts_rank(hit.words, term.lexeme) / 0.0608 * 2.2 / (1 + 1.2 * hit.size))
    FROM (SELECT CAST(quote_literal(item.lexeme) AS tsquery) AS lexeme, item.weight
          FROM unnest(CAST(:lexemes AS text[]), CAST(:weights AS float8[])) AS item (lexeme, weight)) AS term
) AS score
FROM hit ORDER BY score DESC NULLS LAST, number LIMIT :limit

-- name: search_words_among
SELECT own.passage AS number FROM towpath.search_words AS own
WHERE own.passage IN :numbers AND own.words @@ CAST(:matches AS tsquery)

-- name: search_vectors_state
-- A later number may be committed before an earlier one, so the newest does not say it all.
SELECT count(*) AS counted, sum(hashint8(number)) AS newest
FROM towpath.search_vectors WHERE tenant = :tenant AND model = :model

-- name: search_vectors_listed
SELECT json_agg(number)::text AS numbers FROM towpath.search_vectors WHERE tenant = :tenant AND model = :model

-- name: search_vectors_places
-- Where the nearest stand, if they are still there.
SELECT vectors.number AS vectors, passage.ordinal, passage.number
FROM json_array_elements(CAST(:places AS json)) AS asked (value)
JOIN towpath.search_vectors AS vectors ON vectors.number = (asked.value ->> 0)::bigint
JOIN towpath.search_passage AS passage ON passage.source = vectors.source AND passage.ordinal = (asked.value ->> 1)::int

-- name: search_nearest
SELECT passage AS number, similarity FROM towpath.search_nearest(:tenant, :model, :dimensions, :asked, :sources, :most, :few)
