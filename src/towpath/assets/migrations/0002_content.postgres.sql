-- Files are also found by what is in them: a recording that is sent again is known.
CREATE INDEX asset_content ON towpath.asset (sha256, tenant) WHERE state = 'ready';
