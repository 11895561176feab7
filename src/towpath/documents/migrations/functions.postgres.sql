-- revision: 1
-- How the jobs of runs and items had ended that are gone: written down when their rows go, whoever removes them.
CREATE OR REPLACE FUNCTION towpath.document_run_outlives_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE towpath.document_run SET last_job = OLD.id::text, last_state = OLD.state, last_error = OLD.error::text
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id::text);
    RETURN OLD;
END
$$;
CREATE OR REPLACE TRIGGER document_run_outlives_job BEFORE DELETE ON towpath.job
FOR EACH ROW WHEN (OLD.subject_kind = 'document_run')
EXECUTE FUNCTION towpath.document_run_outlives_job();

CREATE OR REPLACE FUNCTION towpath.document_item_outlives_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE towpath.document_item SET last_job = OLD.id::text, last_state = OLD.state, last_error = OLD.error::text
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id::text);
    RETURN OLD;
END
$$;
CREATE OR REPLACE TRIGGER document_item_outlives_job BEFORE DELETE ON towpath.job
FOR EACH ROW WHEN (OLD.subject_kind = 'document_item')
EXECUTE FUNCTION towpath.document_item_outlives_job();
