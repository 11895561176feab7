-- What each job has used, by model, all its attempts together. What was used before by steps is taken from their records;
-- what was used outside of them is not on record.
CREATE TABLE towpath_job_usage (
    job_id           text NOT NULL,
    model            text NOT NULL,
    calls            integer NOT NULL,
    tokens_in        integer NOT NULL,
    tokens_out       integer NOT NULL,
    cost_cents       REAL NOT NULL,
    priced_calls     integer NOT NULL,
    unpriced_in      integer NOT NULL,
    unpriced_out     integer NOT NULL,
    unmeasured_calls integer NOT NULL,
    PRIMARY KEY (job_id, model)
) WITHOUT ROWID;
INSERT INTO towpath_job_usage
SELECT job_id, coalesce(model, ''), count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
       coalesce(sum(cost_cents), 0), count(cost_cents),
       coalesce(sum(tokens_in) FILTER (WHERE cost_cents IS NULL), 0),
       coalesce(sum(tokens_out) FILTER (WHERE cost_cents IS NULL), 0),
       count(*) FILTER (WHERE cost_cents IS NULL AND tokens_in IS NULL AND tokens_out IS NULL)
FROM towpath_step
WHERE model IS NOT NULL OR tokens_in IS NOT NULL OR tokens_out IS NOT NULL OR cost_cents IS NOT NULL
GROUP BY 1, 2;
