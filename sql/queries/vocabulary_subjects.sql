-- The subjects of a user's own conversations, latest activity first.
-- $1 user, $2 limit
SELECT t.thread_id, t.subject
FROM vocative.feed_thread AS ft
JOIN vocative.thread AS t ON t.thread_id = ft.thread_id
WHERE ft.user_id = $1 AND NOT ft.removed AND t.kind = 'message' AND t.subject IS NOT NULL
ORDER BY ft.activity_at DESC, t.thread_id
LIMIT $2
