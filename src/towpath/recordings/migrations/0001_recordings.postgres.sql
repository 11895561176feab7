-- What a person uploaded. There is no status here: it is told from the jobs, see status.py.
CREATE TABLE towpath.recording (
    id            text PRIMARY KEY,
    tenant        text NOT NULL,
    lane          text NOT NULL,
    title         text NOT NULL,
    file_name     text NOT NULL,
    asset_id      text NOT NULL,
    media_type    text NOT NULL,
    bytes         bigint NOT NULL,
    language      text,
    speakers      boolean NOT NULL,
    auto_summary  boolean NOT NULL,
    -- Who hears it, such as whisper/small; NULL is whoever does by default.
    model         text,
    -- How it is summarised: the id of a template; NULL is the usual way.
    template      text,
    duration      double precision,
    -- How long the file says it is: for estimates, until somebody has decoded it.
    stated        double precision,
    transcript_id text,
    summary_id    text,
    created_by    text,
    creator       text,
    created_at    timestamptz NOT NULL,
    removed_at    timestamptz,
    -- What must outlive a recording's jobs: how the newest of those that are gone had ended. While a job is there its own row
    -- says it; the database writes it down here when that row goes, whoever removes it (see functions.postgres.sql), so that the two
    -- are never there at once.
    last_job      text,
    last_kind     text,
    last_state    text,
    last_error    text
);
CREATE INDEX recording_tenant ON towpath.recording (tenant, id);
-- A file is one recording, however often it is reported.
CREATE UNIQUE INDEX recording_asset ON towpath.recording (asset_id) WHERE removed_at IS NULL;

CREATE TABLE towpath.recording_transcript (
    id           text PRIMARY KEY,
    recording_id text NOT NULL,
    engine       text NOT NULL,
    language     text,
    lines        integer NOT NULL,
    took_seconds double precision,
    cost_cents   double precision,
    -- What people should know of it before they read it, such as that it does not read like the engine's language.
    remark       text,
    created_at   timestamptz NOT NULL
);
CREATE INDEX recording_transcript_recording ON towpath.recording_transcript (recording_id);

CREATE TABLE towpath.recording_line (
    transcript_id text NOT NULL,
    number        integer NOT NULL,
    begins        double precision NOT NULL,
    ends          double precision NOT NULL,
    -- Numbers of speakers; what they are called is in another table.
    speaker       integer,
    -- Who speaks as the engine said it, beside what people made of it: as `heard` and `edited` are for the words.
    speaker_heard integer,
    -- Where the print of its voice lies among those of its recording, so that one speaker can be divided into two.
    place         text,
    heard         text NOT NULL,
    edited        text,
    edited_by     text,
    PRIMARY KEY (transcript_id, number)
);

-- What people have said of a speaker: a name, or that these lines are one person's (a row without a name). It outlives transcripts.
CREATE TABLE towpath.recording_speaker (
    recording_id text NOT NULL,
    number       integer NOT NULL,
    name         text,
    said_by      text,
    PRIMARY KEY (recording_id, number)
);

-- What people had corrected in lines that a newer transcript does not have. It waits here until somebody has looked at it.
CREATE TABLE towpath.recording_unplaced (
    id           text PRIMARY KEY,
    recording_id text NOT NULL,
    begins       double precision NOT NULL,
    ends         double precision NOT NULL,
    heard        text NOT NULL,
    edited       text,
    speaker      text,
    edited_by    text
);
CREATE INDEX recording_unplaced_recording ON towpath.recording_unplaced (recording_id);

CREATE TABLE towpath.recording_summary (
    id            text PRIMARY KEY,
    recording_id  text NOT NULL,
    transcript_id text NOT NULL,
    text          text NOT NULL,
    method        text NOT NULL,
    -- What its template was called when it was made; NULL is the usual way.
    template      text,
    model         text,
    tokens_in     integer,
    tokens_out    integer,
    cost_cents    double precision,
    took_seconds  double precision,
    created_at    timestamptz NOT NULL
);
CREATE INDEX recording_summary_recording ON towpath.recording_summary (recording_id);

-- Ways to summarise that people have written. Those that come along are in code.
CREATE TABLE towpath.recording_template (
    id         text PRIMARY KEY,
    tenant     text NOT NULL,
    -- The name however it is capitalised.
    key        text NOT NULL,
    name       text NOT NULL,
    prompt     text NOT NULL,
    created_by text,
    changed_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX recording_template_name ON towpath.recording_template (tenant, key);

-- What people sort their recordings by. `key` is the tag however it is capitalised.
CREATE TABLE towpath.recording_tag (
    recording_id text NOT NULL,
    key          text NOT NULL,
    tag          text NOT NULL,
    PRIMARY KEY (recording_id, key)
);

-- Links for people without an account. Only the digest of the secret is kept.
CREATE TABLE towpath.recording_share (
    id           text PRIMARY KEY,
    recording_id text NOT NULL,
    digest       text NOT NULL UNIQUE,
    with_audio   boolean NOT NULL,
    created_by   text,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE INDEX recording_share_recording ON towpath.recording_share (recording_id);

-- How fast an engine has been here lately, with one slot; old recordings count less and less.
CREATE TABLE towpath.recording_speed (
    engine        text PRIMARY KEY,
    audio_seconds double precision NOT NULL,
    wall_seconds  double precision NOT NULL
);

-- How much decoded audio lies in the blob store, by the transcription it belongs to. A row whose job is gone counts no more.
CREATE TABLE towpath.recording_decoded (
    job_id uuid PRIMARY KEY,
    tenant text NOT NULL,
    bytes  bigint NOT NULL
);
CREATE INDEX recording_decoded_tenant ON towpath.recording_decoded (tenant);
