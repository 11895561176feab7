-- Who speaks as the engine said it, beside what people made of it: as `heard` and `edited` are for the words.
ALTER TABLE towpath.recording_line ADD COLUMN speaker_heard text;
UPDATE towpath.recording_line SET speaker_heard = speaker WHERE edited_by IS NULL;

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
