-- Why it is not active, if nobody switched it off: it waits for a person.
ALTER TABLE towpath.webhook ADD COLUMN paused_reason text;
