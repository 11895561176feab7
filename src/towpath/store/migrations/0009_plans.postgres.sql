-- Plans that do not depend on what the planner believes about the size of a table. Decision 0022 says why.
--
-- A claim reads `job_ready`, which is in the order of the claim. `job_lane` must not look like another way to do it, with a
-- sort of everything that waits: whoever asks for one lane implies the second condition, a claim does not.
DROP INDEX towpath.job_lane;
CREATE INDEX job_lane ON towpath.job (queue, priority, lane, pass) WHERE ready AND lane IS NOT NULL;

-- Called on anybody's connection, whatever is set there.
ALTER FUNCTION towpath.enqueue(text, json, text, text, text, integer, float8, timestamptz, text, integer, text)
    SET enable_seqscan = off;
ALTER FUNCTION towpath.insert_alike(bigint, boolean, uuid[], json[], text, text, text, text, smallint, float8, uuid, uuid, text,
                                    integer, text)
    SET enable_seqscan = off;
