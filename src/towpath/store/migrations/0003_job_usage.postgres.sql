-- What each job has used, by model, all its attempts together. What was used before by steps is taken from their records;
-- what was used outside of them is not on record.
CREATE TABLE towpath.job_usage (
    job_id           uuid NOT NULL,
    model            text NOT NULL,
    calls            bigint NOT NULL,
    tokens_in        bigint NOT NULL,
    tokens_out       bigint NOT NULL,
    cost_cents       float8 NOT NULL,
    priced_calls     bigint NOT NULL,
    unpriced_in      bigint NOT NULL,
    unpriced_out     bigint NOT NULL,
    unmeasured_calls bigint NOT NULL,
    PRIMARY KEY (job_id, model)
);
INSERT INTO towpath.job_usage
SELECT job_id, coalesce(model, ''), count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
       coalesce(sum(cost_cents), 0), count(cost_cents),
       coalesce(sum(tokens_in) FILTER (WHERE cost_cents IS NULL), 0),
       coalesce(sum(tokens_out) FILTER (WHERE cost_cents IS NULL), 0),
       count(*) FILTER (WHERE cost_cents IS NULL AND tokens_in IS NULL AND tokens_out IS NULL)
FROM towpath.step
WHERE model IS NOT NULL OR tokens_in IS NOT NULL OR tokens_out IS NOT NULL OR cost_cents IS NOT NULL
GROUP BY 1, 2;
