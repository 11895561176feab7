-- How much decoded audio lies in the blob store, by the transcription it belongs to. A row whose job is gone counts no more.
CREATE TABLE towpath.recording_decoded (
    job_id uuid PRIMARY KEY,
    tenant text NOT NULL,
    bytes  bigint NOT NULL
);
CREATE INDEX recording_decoded_tenant ON towpath.recording_decoded (tenant);
