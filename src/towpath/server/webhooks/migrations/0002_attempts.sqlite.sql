-- How often it was sent. The job was entered more often, if it had to wait for a receiver that was down.
ALTER TABLE towpath_webhook_delivery ADD COLUMN attempts integer NOT NULL DEFAULT 0;
UPDATE towpath_webhook_delivery
SET attempts = (SELECT job.attempt FROM towpath_job AS job WHERE job.id = towpath_webhook_delivery.id)
WHERE EXISTS (SELECT 1 FROM towpath_job AS job WHERE job.id = towpath_webhook_delivery.id);
