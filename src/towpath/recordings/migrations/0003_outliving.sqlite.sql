-- What must outlive a recording's jobs: how the newest of those that are gone had ended. While a job is there its own row says
-- it; the database writes it down here when that row goes, whoever removes it, so that the two are never there at once.
ALTER TABLE towpath_recording ADD COLUMN last_job text;
ALTER TABLE towpath_recording ADD COLUMN last_kind text;
ALTER TABLE towpath_recording ADD COLUMN last_state text;
ALTER TABLE towpath_recording ADD COLUMN last_error text;

CREATE TRIGGER recording_outlives_job BEFORE DELETE ON towpath_job
WHEN OLD.parent_id IS NULL AND OLD.queue IN ('transcription', 'summary') BEGIN
    UPDATE towpath_recording
    SET last_job = OLD.id, last_kind = OLD.operation, last_state = OLD.state, last_error = OLD.error
    WHERE id = (SELECT recording_id FROM towpath_recording_job WHERE job_id = OLD.id)
      AND (last_job IS NULL OR last_job < OLD.id);
END;
