-- Jobs by what they work on.

-- name: jobs_of_subjects
-- In any order: whoever asked for that of the ids would have all jobs walked through.
SELECT * FROM towpath.job
WHERE subject_kind IS NOT NULL AND subject_kind = :kind AND subject_id IN :ids AND parent_id IS NULL
