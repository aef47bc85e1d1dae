-- The heads of many feeds, for the poll behind the wake-ups.
-- $1 users
SELECT user_id, seq FROM vocative.feed WHERE user_id = ANY ($1)
