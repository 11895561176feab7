-- Recordings in the order in which they are begun, without the parts of those that are: so that a place in line is counted
-- without walking through the parts. Of other queues nothing is in it.
CREATE INDEX recordings_waiting ON towpath.job (queue, priority, pass, id)
    WHERE ready AND parent_id IS NULL AND queue IN ('transcription', 'summary');

-- How long the file says it is: for estimates, until somebody has decoded it.
ALTER TABLE towpath.recording ADD COLUMN stated double precision;

-- Speeds were of whole recordings, whoever else was being heard; from now on they are of one slot.
DELETE FROM towpath.recording_speed;
