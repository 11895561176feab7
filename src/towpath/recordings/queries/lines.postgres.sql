-- name: transcript_lines_add
INSERT INTO towpath.recording_line (transcript_id, number, begins, ends, speaker, speaker_heard, heard)
SELECT CAST(:id AS text), item.place - 1, (item.value ->> 0)::float8, (item.value ->> 1)::float8, item.value ->> 2,
       item.value ->> 2, item.value ->> 3
FROM json_array_elements(CAST(:lines AS json)) WITH ORDINALITY AS item (value, place)
