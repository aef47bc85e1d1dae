-- A user's threads, newest activity first.
-- $1 user, $2 and $3 the activity and id of the last thread of the page before, $4 limit
SELECT t.thread_id, t.kind, t.history, t.subject, t.created_by, t.create_hash, t.created_at,
  t.last_activity_at, t.seq, ft.unread_count, ft.read_up_to, ft.visible_from
FROM vocative.feed_thread AS ft
JOIN vocative.thread AS t ON t.thread_id = ft.thread_id
WHERE ft.user_id = $1 AND NOT ft.removed AND (ft.activity_at, ft.thread_id) < ($2, $3)
ORDER BY ft.activity_at DESC, ft.thread_id DESC
LIMIT $4
