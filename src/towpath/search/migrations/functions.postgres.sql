-- revision: 1
-- Meaning is looked for by pgvector where the server has it. The table is made when search is installed, or later by
-- `towpath.search.prepare`, when the extension has come since.
CREATE OR REPLACE FUNCTION towpath.search_can_be_near() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') THEN
        CREATE EXTENSION vector;
    END IF;
    -- halfvec came with 0.7, and scans that go on until enough was found with 0.8.
    RETURN (SELECT string_to_array(regexp_replace(extversion, '[^0-9.].*', ''), '.')::int[] >= ARRAY[0, 8]
            FROM pg_extension WHERE extname = 'vector') AND to_regtype('halfvec') IS NOT NULL;
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
    RETURN false;
END
$$;

CREATE OR REPLACE FUNCTION towpath.search_make_near() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('towpath.search_near') IS NOT NULL THEN
        RETURN true;
    ELSIF NOT towpath.search_can_be_near() THEN
        RETURN false;
    END IF;
    CREATE TABLE towpath.search_near (
        passage   bigint PRIMARY KEY,
        source    bigint NOT NULL,
        tenant    text NOT NULL,
        model     text NOT NULL,
        embedding halfvec NOT NULL
    );
    CREATE INDEX search_near_tenant ON towpath.search_near (tenant, model, source);
    CREATE INDEX search_near_source ON towpath.search_near (source);
    -- Whoever writes has locked this table before it looks whether there is the other.
    LOCK TABLE towpath.search_vectors IN SHARE MODE;
    RETURN true;
END
$$;

-- A model's own graph: an index has one number of dimensions.
CREATE OR REPLACE FUNCTION towpath.search_index_near(of_model text, dimensions integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'CREATE INDEX IF NOT EXISTS %I ON towpath.search_near USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) WHERE model = %L',
        'search_near_' || substr(md5(of_model), 1, 12), dimensions, of_model
    );
END
$$;

-- What is next in meaning among a tenant's passages, or among those of some of its sources. Few are compared one by one, which misses
-- none; many are found through the graph, which goes on until it has enough of this tenant. The statement is made with its values,
-- because a plan without them cannot use an index of one model.
CREATE OR REPLACE FUNCTION towpath.search_nearest(
    of_tenant text, of_model text, dimensions integer, asked text, of_sources bigint[], most integer, few integer
) RETURNS TABLE (passage bigint, similarity double precision) LANGUAGE plpgsql AS $$
DECLARE
    mine text := format('tenant = %L AND model = %L', of_tenant, of_model);
    number integer;
BEGIN
    IF of_sources IS NOT NULL THEN
        mine := mine || format(' AND source = ANY (%L::bigint[])', of_sources);
    END IF;
    EXECUTE format('SELECT count(*) FROM (SELECT FROM towpath.search_near WHERE %s LIMIT %s) AS first_ones', mine, few + 1) INTO number;
    IF number <= few THEN
        RETURN QUERY EXECUTE format(
            'WITH own AS MATERIALIZED (SELECT passage, embedding FROM towpath.search_near WHERE %s)
             SELECT passage, 1 - (embedding::halfvec(%s) <=> %L::halfvec(%s)) FROM own ORDER BY 2 DESC, 1 LIMIT %s',
            mine, dimensions, asked, dimensions, most
        );
    ELSE
        PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '200', true),
                set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true);
        RETURN QUERY EXECUTE format(
            'SELECT passage, 1 - (embedding::halfvec(%s) <=> %L::halfvec(%s)) FROM towpath.search_near
             WHERE %s ORDER BY embedding::halfvec(%s) <=> %L::halfvec(%s) LIMIT %s',
            dimensions, asked, dimensions, mine, dimensions, asked, dimensions, most
        );
    END IF;
END
$$;
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM towpath.search_vectors) AND towpath.search_make_near() THEN
        PERFORM towpath.search_index_near('wordllama/l2_supercat_256', 256);
    END IF;
END
$$
