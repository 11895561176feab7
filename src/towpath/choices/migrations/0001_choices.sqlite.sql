-- Services for speech and chat that people have set up, for the whole installation.
CREATE TABLE towpath_model_service (
    -- Others call it so: it never changes.
    name       text PRIMARY KEY,
    kind       text NOT NULL,
    url        text NOT NULL,
    model      text NOT NULL,
    -- What it hears, as a JSON list of tags; NULL: nobody has said.
    languages  text,
    -- Its key, encrypted; see vault.py. NULL: it asks for none.
    secret     text,
    created_at REAL NOT NULL,
    changed_at REAL NOT NULL
);

-- Which model hears, and which chats, where nobody says otherwise. No row: as the settings have it.
CREATE TABLE towpath_model_choice (
    kind      text PRIMARY KEY,
    model     text NOT NULL,
    chosen_at REAL NOT NULL
);
