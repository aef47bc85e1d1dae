-- Whether somebody was in a thread, and is no longer.
-- $1 thread, $2 user
SELECT left_at FROM vocative.participant
WHERE thread_id = $1 AND user_id = $2 AND left_at IS NOT NULL
