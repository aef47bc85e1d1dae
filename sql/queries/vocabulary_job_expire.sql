-- Forgets what a principal's jobs stored more than seven days ago.
-- $1 principal
DELETE FROM vocative.vocabulary_job_batch
WHERE user_id = $1 AND stored_at < now() - interval '7 days'
