-- The epoch, and the head of a user's feed.
-- $1 user
SELECT i.epoch, coalesce(f.seq, 0) AS seq
FROM vocative.installation AS i
LEFT JOIN vocative.feed AS f ON f.user_id = $1
