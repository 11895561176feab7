-- Why it is not active, if nobody switched it off: it waits for a person.
ALTER TABLE towpath_webhook ADD COLUMN paused_reason text;
