-- Whatever has text: documents, recordings, things of a user's own slice. Its number never comes back.
CREATE TABLE towpath.search_source (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant     text NOT NULL,
    kind       text NOT NULL,
    id         text NOT NULL,
    title      text NOT NULL,
    -- Whose stems its words have; empty for none.
    language   text NOT NULL,
    facts      text NOT NULL,
    indexed_at timestamptz NOT NULL,
    UNIQUE (tenant, kind, id)
);
CREATE INDEX search_source_language ON towpath.search_source (tenant, language);

CREATE TABLE towpath.search_tag (
    tenant text NOT NULL,
    tag    text NOT NULL,
    source bigint NOT NULL,
    PRIMARY KEY (tenant, tag, source)
);
CREATE INDEX search_tag_source ON towpath.search_tag (source);

CREATE TABLE towpath.search_passage (
    number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant  text NOT NULL,
    source  bigint NOT NULL,
    ordinal integer NOT NULL,
    text    text NOT NULL,
    page    integer,
    second  double precision,
    -- Until when it lasts.
    lasts   double precision,
    starts  integer,
    ends    integer,
    tokens  integer,
    -- In words as they are indexed.
    length  integer NOT NULL
);
CREATE INDEX search_passage_tenant ON towpath.search_passage (tenant);
CREATE UNIQUE INDEX search_passage_place ON towpath.search_passage (source, ordinal);

-- The words of each passage, apart from its text: a question reads thousands of these rows, and of the others ten. For the same
-- reason they stay in their rows if they can.
CREATE TABLE towpath.search_words (
    passage bigint PRIMARY KEY,
    source  bigint NOT NULL,
    words   tsvector NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE towpath.search_words ALTER COLUMN words SET STORAGE MAIN;
CREATE INDEX search_words_words ON towpath.search_words USING gin (words);
CREATE INDEX search_words_source ON towpath.search_words (source);

-- Every word that a tenant's passages have, for slips of the pen.
CREATE TABLE towpath.search_term (
    lexeme text COLLATE "C" PRIMARY KEY
);

-- What a source's passages mean: one row of 16-bit floats for each, in their order. Where pgvector is there, search_near has them,
-- too, see functions.postgres.sql.
CREATE TABLE towpath.search_vectors (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant     text NOT NULL,
    model      text NOT NULL,
    dimensions integer NOT NULL,
    source     bigint NOT NULL,
    packed     bytea NOT NULL
);
CREATE INDEX search_vectors_tenant ON towpath.search_vectors (tenant, model, number);
CREATE INDEX search_vectors_source ON towpath.search_vectors (source);

CREATE TABLE towpath.search_mention (
    tenant  text NOT NULL,
    type    text NOT NULL,
    key     text NOT NULL,
    source  bigint NOT NULL,
    passage bigint NOT NULL,
    value   text NOT NULL,
    starts  integer NOT NULL,
    ends    integer NOT NULL,
    PRIMARY KEY (tenant, type, key, source, passage, starts)
);
CREATE INDEX search_mention_source ON towpath.search_mention (source);
