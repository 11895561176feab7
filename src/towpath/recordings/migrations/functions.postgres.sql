-- revision: 1
-- How the newest of a recording's jobs had ended that are gone: written down when its row goes, whoever removes it.
CREATE OR REPLACE FUNCTION towpath.recording_outlives_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE towpath.recording
    SET last_job = OLD.id::text, last_kind = OLD.operation, last_state = OLD.state, last_error = OLD.error::text
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id::text);
    RETURN OLD;
END
$$;
CREATE OR REPLACE TRIGGER recording_outlives_job BEFORE DELETE ON towpath.job
FOR EACH ROW WHEN (OLD.subject_kind = 'recording' AND OLD.parent_id IS NULL)
EXECUTE FUNCTION towpath.recording_outlives_job();
