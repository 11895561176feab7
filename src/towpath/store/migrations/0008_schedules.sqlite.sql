-- Who keeps a schedule: the code of some process ('code'), or people ('people'). What code declares lives as long as a process
-- that declares it: each lists what it declares, and says so again now and then.
ALTER TABLE towpath_schedule ADD COLUMN origin text NOT NULL DEFAULT 'code' CHECK (origin IN ('code', 'people'));
ALTER TABLE towpath_schedule ADD COLUMN declared_at REAL;
CREATE TABLE towpath_declared (
    name        text NOT NULL,
    declared_by text NOT NULL,
    until       REAL NOT NULL,
    PRIMARY KEY (name, declared_by)
) WITHOUT ROWID;
