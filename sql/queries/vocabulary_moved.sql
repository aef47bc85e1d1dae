-- The threads that took a place in a user's feed behind another place, and what names are in them.
-- $1 user, $2 place
-- Returns a row a thread, with a fingerprint of who is there but the user, and of their names; null
-- where the user has left.
SELECT ft.thread_id, CASE WHEN NOT ft.removed THEN coalesce(n.names, 0) END AS names
FROM vocative.feed_thread AS ft
LEFT JOIN LATERAL (
  SELECT bit_xor(hashtextextended(p.user_id || ' ' || p.name::text, 0)) AS names
  FROM vocative.participant AS p
  WHERE p.thread_id = ft.thread_id AND NOT ft.removed AND p.left_at IS NULL
    AND p.user_id <> $1 AND p.name IS NOT NULL
  OFFSET 0
) AS n ON true
WHERE ft.user_id = $1 AND ft.place > $2
