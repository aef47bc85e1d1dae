-- A batch that a job stored before.
-- $1 principal, $2 key, $3 first line
SELECT lines, chain, results FROM vocative.vocabulary_job_batch
WHERE user_id = $1 AND job_key = $2 AND first_line = $3
