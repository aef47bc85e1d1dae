-- When the user last had to do with people and with threads, as far as they are in the user's own.
-- $1 user, $2 people, $3 threads
SELECT p.user_id AS id, max(ft.activity_at) AS activity_at
FROM vocative.feed_thread AS ft
JOIN vocative.participant AS p ON p.thread_id = ft.thread_id
WHERE ft.user_id = $1 AND NOT ft.removed AND p.user_id = ANY ($2) AND p.left_at IS NULL
GROUP BY p.user_id
UNION ALL
SELECT ft.thread_id::text, ft.activity_at
FROM vocative.feed_thread AS ft
WHERE ft.user_id = $1 AND NOT ft.removed AND ft.thread_id = ANY ($3)
