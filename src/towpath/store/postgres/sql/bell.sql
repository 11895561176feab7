-- name: ring
SELECT pg_notify(:channel, topic) FROM unnest(:topics::text[]) AS topic
