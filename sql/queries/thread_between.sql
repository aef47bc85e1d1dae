-- The conversation of exactly these people: one without a subject before one with, then the one of
-- the latest activity.
-- $1 user, $2 the others, each once and without the user
SELECT ft.thread_id
FROM vocative.feed_thread AS ft
JOIN vocative.thread AS t ON t.thread_id = ft.thread_id
WHERE ft.user_id = $1 AND NOT ft.removed AND t.kind = 'message'
  -- One look-up leaves few to be counted.
  AND (cardinality($2) = 0 OR EXISTS (
    SELECT FROM vocative.participant AS p
    WHERE p.thread_id = ft.thread_id AND p.user_id = $2[1] AND p.left_at IS NULL))
  AND (
    SELECT count(*) = cardinality($2) + 1 AND count(*) FILTER (WHERE p.user_id = ANY ($2))
      = cardinality($2)
    FROM vocative.participant AS p
    WHERE p.thread_id = ft.thread_id AND p.left_at IS NULL)
ORDER BY t.subject IS NOT NULL, ft.activity_at DESC, ft.thread_id
LIMIT 1
