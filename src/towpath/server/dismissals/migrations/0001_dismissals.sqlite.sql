-- Groups of the inbox that somebody has seen and wants to hear no more of, until one of their jobs fails again.
CREATE TABLE towpath_inbox_dismissal (
    -- Empty for all tenants at once, as administrators see them.
    tenant       text NOT NULL,
    operation    text NOT NULL,
    kind         text NOT NULL,
    message      text NOT NULL,
    dismissed_at REAL NOT NULL,
    PRIMARY KEY (tenant, operation, kind, message)
);
