-- name: search_lexeme_counts
-- How many passages have each; a common word is not counted to its end.
SELECT asked.value AS lexeme,
       (SELECT count(*) FROM (SELECT 1 FROM towpath.search_words('"' || asked.value || '"') LIMIT :most)) AS passages
FROM json_each(:lexemes) AS asked

-- name: search_lexemes_between
SELECT term AS lexeme FROM towpath.search_vocabulary WHERE term >= :low AND term < :high LIMIT 20000

-- name: search_words_found
-- As BM25 counts: a rare word is worth more than a common one, the second time less than the first, and long passages have to say
-- it more often. FTS5's own bm25() goes by the words of all tenants, so it is written out here.
WITH hit AS MATERIALIZED (
    SELECT passage.number, 0.4 + 0.6 * passage.length / avg(passage.length) OVER () AS size
    FROM towpath.search_words(:matches) AS own
    JOIN towpath.search_passage AS passage ON passage.number = own.rowid
    WHERE passage.tenant = :tenant AND (:everywhere OR passage.source IN :sources)
), said AS MATERIALIZED (
    SELECT place.doc AS number, term.weight, count(*) AS times
    FROM (SELECT lexeme.value AS lexeme, weight.value AS weight
          FROM json_each(:lexemes) AS lexeme JOIN json_each(:weights) AS weight ON weight.key = lexeme.key) AS term
    JOIN towpath.search_places AS place ON place.term = term.lexeme
    GROUP BY place.doc, term.lexeme
)
SELECT hit.number, sum(said.weight * said.times * 2.2 / (said.times + 1.2 * hit.size)) AS score
FROM said JOIN hit ON hit.number = said.number
GROUP BY hit.number ORDER BY score DESC, hit.number LIMIT :limit

-- name: search_words_among
SELECT hit.rowid AS number FROM towpath.search_words(:matches) AS hit WHERE hit.rowid IN :numbers

-- name: search_vectors_state
-- Numbers only grow here, and do not come back: whatever changes is seen in one of the two.
SELECT count(*) AS counted, max(number) AS newest FROM towpath.search_vectors WHERE tenant = :tenant AND model = :model

-- name: search_vectors_listed
SELECT json_group_array(number) AS numbers FROM towpath.search_vectors WHERE tenant = :tenant AND model = :model

-- name: search_vectors_places
-- Where the nearest stand, if they are still there.
SELECT vectors.number AS vectors, passage.ordinal, passage.number
FROM json_each(:places) AS asked
JOIN towpath.search_vectors AS vectors ON vectors.number = json_extract(asked.value, '$[0]')
JOIN towpath.search_passage AS passage ON passage.source = vectors.source AND passage.ordinal = json_extract(asked.value, '$[1]')

-- name: search_nearest
-- There is no such extension here.
SELECT 0 AS number, 0.0 AS similarity WHERE false
