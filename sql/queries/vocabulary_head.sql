-- The head of a user's feed, and the revision of a type of their vocabulary. Costs one row.
-- $1 user, $2 type
-- No row where the user never had a feed.
SELECT seq, coalesce((vocabulary ->> $2)::int8, 0) AS revision
FROM vocative.feed WHERE user_id = $1
