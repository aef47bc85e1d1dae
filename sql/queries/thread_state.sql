-- A thread as one user sees it.
-- $1 thread, $2 user. No row where they are not in it.
SELECT t.thread_id, t.kind, t.history, t.subject, t.created_by, t.create_hash, t.created_at,
  t.last_activity_at, t.seq, ft.unread_count, ft.read_up_to, ft.visible_from
FROM vocative.participant AS p
JOIN vocative.thread AS t ON t.thread_id = p.thread_id
JOIN vocative.feed_thread AS ft ON ft.user_id = p.user_id AND ft.thread_id = p.thread_id
WHERE p.thread_id = $1 AND p.user_id = $2 AND p.left_at IS NULL
