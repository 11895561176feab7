-- Who speaks as the engine said it, beside what people made of it: as `heard` and `edited` are for the words.
ALTER TABLE towpath_recording_line ADD COLUMN speaker_heard text;
UPDATE towpath_recording_line SET speaker_heard = speaker WHERE edited_by IS NULL;

-- What people had corrected in lines that a newer transcript does not have. It waits here until somebody has looked at it.
CREATE TABLE towpath_recording_unplaced (
    id           text PRIMARY KEY,
    recording_id text NOT NULL,
    begins       REAL NOT NULL,
    ends         REAL NOT NULL,
    heard        text NOT NULL,
    edited       text,
    speaker      text,
    edited_by    text
);
CREATE INDEX towpath_recording_unplaced_recording ON towpath_recording_unplaced (recording_id);
