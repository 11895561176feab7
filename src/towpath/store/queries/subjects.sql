-- Jobs by what they work on.

-- name: jobs_of_subjects
-- In no order, and sorted by whoever asks. With ORDER BY id a planner may take the primary key, which has that order, and read through
-- all jobs to find these.
SELECT * FROM towpath.job
WHERE subject_kind IS NOT NULL AND subject_kind = :kind AND subject_id IN :ids AND parent_id IS NULL
