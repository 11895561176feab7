-- revision: 1
-- How the jobs of runs and items had ended that are gone: written down when their rows go, whoever removes them.
DROP TRIGGER IF EXISTS document_run_outlives_job;
CREATE TRIGGER document_run_outlives_job BEFORE DELETE ON towpath_job
WHEN OLD.subject_kind = 'document_run' BEGIN
    UPDATE towpath_document_run SET last_job = OLD.id, last_state = OLD.state, last_error = OLD.error
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id);
END;
DROP TRIGGER IF EXISTS document_item_outlives_job;
CREATE TRIGGER document_item_outlives_job BEFORE DELETE ON towpath_job
WHEN OLD.subject_kind = 'document_item' BEGIN
    UPDATE towpath_document_item SET last_job = OLD.id, last_state = OLD.state, last_error = OLD.error
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id);
END;
