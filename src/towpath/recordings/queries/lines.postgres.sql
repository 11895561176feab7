-- name: transcript_lines_add
INSERT INTO towpath.recording_line (transcript_id, number, begins, ends, speaker, speaker_heard, heard, place)
SELECT CAST(:id AS text), (item ->> 0)::integer, (item ->> 1)::float8, (item ->> 2)::float8, (item ->> 3)::integer,
       (item ->> 3)::integer, item ->> 4, item ->> 5
FROM json_array_elements(CAST(:lines AS json)) AS item
ON CONFLICT (transcript_id, number) DO NOTHING
