-- Locks one user's feed, and notes whether there is one: a feed that another transaction commits
-- after this statement must not be written without its lock.
-- $1 user
SELECT set_config('vocative.locked_feed', (count(*) = 1)::text, true)
FROM (SELECT FROM vocative.feed WHERE user_id = $1 FOR NO KEY UPDATE) AS locked
