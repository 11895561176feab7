-- Files are also found by what is in them: a recording that is sent again is known.
CREATE INDEX towpath_asset_content ON towpath_asset (sha256, tenant) WHERE state = 'ready';
