-- Forgets a principal's jobs of which nothing was stored for seven days, each as a whole: of half a
-- job the rest would be taken for what another run stored.
-- $1 principal
DELETE FROM vocative.vocabulary_job_batch AS b
WHERE b.user_id = $1 AND b.stored_at < now() - interval '7 days'
  AND NOT EXISTS (
    SELECT FROM vocative.vocabulary_job_batch AS later
    WHERE later.user_id = $1 AND later.job_key = b.job_key
      AND later.stored_at >= now() - interval '7 days')
