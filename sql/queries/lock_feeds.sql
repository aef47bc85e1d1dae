-- Locks the feeds of the threads' participants, and of further users, in the order of user ids.
-- The second step of every write, after lock_threads.
-- $1 thread ids, $2 further user ids
SELECT count(*)
FROM (
  SELECT FROM vocative.feed
  WHERE user_id = ANY (ARRAY(
    SELECT user_id FROM vocative.participant WHERE thread_id = ANY ($1) AND left_at IS NULL
    UNION
    SELECT unnest($2)
  ))
  ORDER BY user_id
  FOR NO KEY UPDATE
) AS locked
