-- Takes a user out of a thread: what they saw ends here, and a tombstone stays in their feed. Where
-- the last owner goes, the longest-standing admin, or else member, follows. Needs all locks.
-- $1 thread, $2 user
-- Returns the head of the user's feed.
WITH gone AS (
  UPDATE vocative.participant SET left_at = date_trunc('milliseconds', now())
  WHERE thread_id = $1 AND user_id = $2 AND left_at IS NULL
), heir AS (
  UPDATE vocative.participant AS p SET role = 'owner'
  WHERE p.thread_id = $1 AND p.user_id = (
    SELECT o.user_id FROM vocative.participant AS o
    WHERE o.thread_id = $1 AND o.user_id <> $2 AND o.left_at IS NULL
    ORDER BY o.role <> 'admin', o.joined_at, o.user_id LIMIT 1)
    AND NOT EXISTS (
      SELECT FROM vocative.participant AS o
      WHERE o.thread_id = $1 AND o.user_id <> $2 AND o.left_at IS NULL AND o.role = 'owner')
), tombstone AS (
  UPDATE vocative.feed_thread AS ft
  SET removed = true, unread_count = 0, place = f.seq + 1
  FROM vocative.feed AS f
  WHERE f.user_id = $2 AND ft.user_id = $2 AND ft.thread_id = $1
)
UPDATE vocative.feed SET seq = seq + 1 WHERE user_id = $2
RETURNING user_id, seq
