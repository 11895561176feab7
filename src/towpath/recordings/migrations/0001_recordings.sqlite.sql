-- What a person uploaded. There is no status here: it is told from the jobs, see status.py.
CREATE TABLE towpath_recording (
    id            text PRIMARY KEY,
    tenant        text NOT NULL,
    lane          text NOT NULL,
    title         text NOT NULL,
    file_name     text NOT NULL,
    asset_id      text NOT NULL,
    media_type    text NOT NULL,
    bytes         integer NOT NULL,
    language      text,
    speakers      integer NOT NULL,
    auto_summary  integer NOT NULL,
    duration      REAL,
    transcript_id text,
    summary_id    text,
    created_by    text,
    creator       text,
    created_at    REAL NOT NULL,
    removed_at    REAL
);
CREATE INDEX towpath_recording_tenant ON towpath_recording (tenant, id);
CREATE INDEX towpath_recording_asset ON towpath_recording (asset_id);

-- Which jobs work on a recording. The job's own row says everything else about it.
CREATE TABLE towpath_recording_job (
    job_id        text PRIMARY KEY,
    recording_id  text NOT NULL,
    tenant        text NOT NULL,
    kind          text NOT NULL,
    is_new_upload integer NOT NULL,
    created_at    REAL NOT NULL
);
CREATE INDEX towpath_recording_job_recording ON towpath_recording_job (recording_id, job_id);
CREATE INDEX towpath_recording_job_tenant ON towpath_recording_job (tenant, job_id);

CREATE TABLE towpath_recording_transcript (
    id           text PRIMARY KEY,
    recording_id text NOT NULL,
    engine       text NOT NULL,
    language     text,
    lines        integer NOT NULL,
    took_seconds REAL,
    cost_cents   REAL,
    created_at   REAL NOT NULL
);
CREATE INDEX towpath_recording_transcript_recording ON towpath_recording_transcript (recording_id);

CREATE TABLE towpath_recording_line (
    transcript_id text NOT NULL,
    number        integer NOT NULL,
    begins        REAL NOT NULL,
    ends          REAL NOT NULL,
    speaker       text,
    heard         text NOT NULL,
    edited        text,
    edited_by     text,
    PRIMARY KEY (transcript_id, number)
);

CREATE TABLE towpath_recording_summary (
    id            text PRIMARY KEY,
    recording_id  text NOT NULL,
    transcript_id text NOT NULL,
    text          text NOT NULL,
    method        text NOT NULL,
    model         text,
    tokens_in     integer,
    tokens_out    integer,
    cost_cents    REAL,
    took_seconds  REAL,
    created_at    REAL NOT NULL
);
CREATE INDEX towpath_recording_summary_recording ON towpath_recording_summary (recording_id);

-- Links for people without an account. Only the digest of the secret is kept.
CREATE TABLE towpath_recording_share (
    id           text PRIMARY KEY,
    recording_id text NOT NULL,
    digest       text NOT NULL UNIQUE,
    with_audio   integer NOT NULL,
    created_by   text,
    created_at   REAL NOT NULL,
    expires_at   REAL NOT NULL
);
CREATE INDEX towpath_recording_share_recording ON towpath_recording_share (recording_id);

-- How fast an engine has been here lately; old recordings count less and less.
CREATE TABLE towpath_recording_speed (
    engine        text PRIMARY KEY,
    audio_seconds REAL NOT NULL,
    wall_seconds  REAL NOT NULL
);
