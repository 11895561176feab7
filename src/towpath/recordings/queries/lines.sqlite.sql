-- name: transcript_lines_add
INSERT INTO towpath.recording_line (transcript_id, number, begins, ends, speaker, speaker_heard, heard, place)
SELECT :id, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),
       json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]')
FROM json_each(:lines) WHERE true
ON CONFLICT (transcript_id, number) DO NOTHING
