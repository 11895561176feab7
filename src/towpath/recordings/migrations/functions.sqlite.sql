-- revision: 1
-- How the newest of a recording's jobs had ended that are gone: written down when its row goes, whoever removes it.
DROP TRIGGER IF EXISTS recording_outlives_job;
CREATE TRIGGER recording_outlives_job BEFORE DELETE ON towpath_job
WHEN OLD.subject_kind = 'recording' AND OLD.parent_id IS NULL BEGIN
    UPDATE towpath_recording
    SET last_job = OLD.id, last_kind = OLD.operation, last_state = OLD.state, last_error = OLD.error
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id);
END;
