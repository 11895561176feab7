-- name: transcript_lines_add
INSERT INTO towpath.recording_line (transcript_id, number, begins, ends, speaker, speaker_heard, heard)
SELECT :id, key, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
       json_extract(value, '$[2]'), json_extract(value, '$[3]')
FROM json_each(:lines)
