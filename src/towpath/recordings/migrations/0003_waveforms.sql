-- The waveform of a recording, a byte for each of equal stretches, in base64; NULL until somebody has decoded it since there are
-- waveforms, and empty if it could not be decoded any more. It is the last column, and is read only when it is asked for.
ALTER TABLE towpath.recording ADD COLUMN peaks text;
