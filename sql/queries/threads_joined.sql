-- Which of these threads are conversations that the user is in.
-- $1 user, $2 threads
SELECT t.thread_id
FROM vocative.thread AS t
JOIN vocative.participant AS p ON p.thread_id = t.thread_id
WHERE t.thread_id = ANY ($2) AND t.kind = 'message' AND p.user_id = $1 AND p.left_at IS NULL
