-- Locks threads in the order of their ids, as far as the callers are in them now. The first step of
-- every write to a thread. It notes what it locked: a thread that another transaction commits after
-- this statement is seen by the later ones, yet must not be written without its lock.
-- $1 thread ids, $2 the caller for each
-- Returns the threads that are locked, as the text of an array.
SELECT set_config('vocative.locked_threads', coalesce(array_agg(thread_id), '{}')::text, true)
FROM (
  SELECT t.thread_id FROM vocative.thread AS t
  WHERE t.thread_id = ANY (ARRAY(
    SELECT p.thread_id FROM unnest($1, $2) AS c (thread_id, user_id)
    JOIN vocative.participant AS p USING (thread_id, user_id)
    WHERE p.left_at IS NULL
  ))
  ORDER BY t.thread_id
  FOR NO KEY UPDATE
) AS locked
