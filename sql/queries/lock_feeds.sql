-- Locks the feeds of the participants of all locked threads, and of further users, in the order of
-- user ids. The second step of every write to a thread, after lock_threads.
-- $1 further user ids
SELECT count(*)
FROM (
  SELECT FROM vocative.feed
  WHERE user_id = ANY (ARRAY(
    SELECT user_id FROM vocative.participant
    -- Not set, or empty, where no thread is locked in this transaction.
    WHERE thread_id = ANY (nullif(current_setting('vocative.locked_threads', true), '')::uuid[])
      AND left_at IS NULL
    UNION
    SELECT unnest($1)
  ))
  ORDER BY user_id
  FOR NO KEY UPDATE
) AS locked
