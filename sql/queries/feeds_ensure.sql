-- Makes sure that users have feeds. Comes after lock_threads and before lock_feeds.
-- $1 users
INSERT INTO vocative.feed (user_id)
SELECT user_id FROM unnest($1) AS u (user_id) GROUP BY user_id ORDER BY user_id
ON CONFLICT (user_id) DO NOTHING
