-- Whether the index says what the transcript and the title say now. Whoever changes one of them takes it back in the same commit.
ALTER TABLE towpath.recording ADD COLUMN indexed boolean NOT NULL DEFAULT false;
CREATE INDEX recording_unindexed ON towpath.recording (id)
WHERE NOT indexed AND transcript_id IS NOT NULL AND removed_at IS NULL;
