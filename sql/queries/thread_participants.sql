-- Who is in threads now, as far as the caller is in them too.
-- $1 threads, $2 caller
SELECT p.thread_id, p.user_id, p.role, p.name, p.joined_at
FROM vocative.participant AS me
JOIN vocative.participant AS p ON p.thread_id = me.thread_id AND p.left_at IS NULL
WHERE me.thread_id = ANY ($1) AND me.user_id = $2 AND me.left_at IS NULL
ORDER BY p.thread_id, p.user_id
