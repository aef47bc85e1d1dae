-- The names that participants of a user's own threads carry there, latest activity first.
-- $1 user, $2 limit
SELECT p.user_id, p.name
FROM vocative.feed_thread AS ft
JOIN vocative.participant AS p ON p.thread_id = ft.thread_id
WHERE ft.user_id = $1 AND NOT ft.removed AND p.left_at IS NULL AND p.user_id <> $1
  AND p.name IS NOT NULL
GROUP BY p.user_id, p.name
ORDER BY max(ft.activity_at) DESC, p.user_id, p.name
LIMIT $2
