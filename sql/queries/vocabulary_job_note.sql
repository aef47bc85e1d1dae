-- Notes that a job has stored a batch. Returns no row where it was noted before: then another
-- request runs the same job.
-- $1 principal, $2 key, $3 first line, $4 lines, $5 chain, $6 results
INSERT INTO vocative.vocabulary_job_batch (user_id, job_key, first_line, lines, chain, results)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING
RETURNING first_line
