-- Locks threads in the order of their ids. The first step of every write to a thread: the
-- statements after it see all that was committed before the lock was given.
-- $1 thread ids
SELECT count(*)
FROM (
  SELECT FROM vocative.thread
  WHERE thread_id = ANY ($1)
  ORDER BY thread_id
  FOR NO KEY UPDATE
) AS locked
