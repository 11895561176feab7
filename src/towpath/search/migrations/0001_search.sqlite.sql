-- Whatever has text: documents, recordings, things of a user's own slice. Its number never comes back.
CREATE TABLE towpath.search_source (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    id         TEXT NOT NULL,
    title      TEXT NOT NULL,
    -- Whose stems its words have; empty for none.
    language   TEXT NOT NULL,
    facts      TEXT NOT NULL,
    indexed_at REAL NOT NULL,
    UNIQUE (tenant, kind, id)
);
CREATE INDEX towpath_search_source_language ON towpath.search_source (tenant, language);

CREATE TABLE towpath.search_tag (
    tenant TEXT NOT NULL,
    tag    TEXT NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (tenant, tag, source)
) WITHOUT ROWID;
CREATE INDEX towpath_search_tag_source ON towpath.search_tag (source);

CREATE TABLE towpath.search_passage (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant  TEXT NOT NULL,
    source  INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    text    TEXT NOT NULL,
    page    INTEGER,
    second  REAL,
    -- Until when it lasts.
    lasts   REAL,
    starts  INTEGER,
    ends    INTEGER,
    tokens  INTEGER,
    -- In words as they are indexed.
    length  INTEGER NOT NULL
);
CREATE INDEX towpath_search_passage_tenant ON towpath.search_passage (tenant);
CREATE UNIQUE INDEX towpath_search_passage_place ON towpath.search_passage (source, ordinal);

-- The words of each passage under its number; the text itself is kept above only.
CREATE VIRTUAL TABLE towpath.search_words USING fts5 (
    terms, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE VIRTUAL TABLE towpath.search_vocabulary USING fts5vocab ('towpath.search_words', 'row');
CREATE VIRTUAL TABLE towpath.search_places USING fts5vocab ('towpath.search_words', 'instance');

-- What a source's passages mean: one row of 16-bit floats for each, in their order.
CREATE TABLE towpath.search_vectors (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant     TEXT NOT NULL,
    model      TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    source     INTEGER NOT NULL,
    packed     BLOB NOT NULL
);
CREATE INDEX towpath_search_vectors_tenant ON towpath.search_vectors (tenant, model, number);
CREATE INDEX towpath_search_vectors_source ON towpath.search_vectors (source);

CREATE TABLE towpath.search_mention (
    tenant  TEXT NOT NULL,
    type    TEXT NOT NULL,
    key     TEXT NOT NULL,
    source  INTEGER NOT NULL,
    passage INTEGER NOT NULL,
    value   TEXT NOT NULL,
    starts  INTEGER NOT NULL,
    ends    INTEGER NOT NULL,
    PRIMARY KEY (tenant, type, key, source, passage, starts)
) WITHOUT ROWID;
CREATE INDEX towpath_search_mention_source ON towpath.search_mention (source);
