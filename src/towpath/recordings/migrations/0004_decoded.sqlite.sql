-- How much decoded audio lies in the blob store, by the transcription it belongs to. A row whose job is gone counts no more.
CREATE TABLE towpath_recording_decoded (
    job_id text PRIMARY KEY,
    tenant text NOT NULL,
    bytes  integer NOT NULL
);
CREATE INDEX towpath_recording_decoded_tenant ON towpath_recording_decoded (tenant);
