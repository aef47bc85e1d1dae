-- The epoch, the head of a user's feed, and their vocabulary's revisions.
-- $1 user
SELECT i.epoch, coalesce(f.seq, 0) AS seq, f.vocabulary
FROM vocative.installation AS i
LEFT JOIN vocative.feed AS f ON f.user_id = $1
