-- name: server_version
-- There is no server. The library is checked whenever a file is opened.
SELECT NULL AS version, NULL AS number WHERE false
