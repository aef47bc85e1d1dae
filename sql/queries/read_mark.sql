-- Moves a user's read marker in a thread and counts anew what is unread. Comes after lock_feed.
-- $1 user, $2 thread, $3 read up to (null: see $4), $4 unread from (null: see $3)
-- Returns one row, the thread's state for the user; none where they are not in it.
WITH state AS MATERIALIZED (
  SELECT ft.place, ft.read_up_to, ft.unread_count, f.seq AS head,
    CASE WHEN $4 IS NULL THEN greatest(ft.read_up_to, least($3, t.seq))
      ELSE greatest(ft.visible_from - 1, least($4 - 1, t.seq)) END AS target
  FROM vocative.feed_thread AS ft
  JOIN vocative.feed AS f ON f.user_id = ft.user_id
  JOIN vocative.thread AS t ON t.thread_id = ft.thread_id
  WHERE ft.user_id = $1 AND ft.thread_id = $2 AND NOT ft.removed
    AND current_setting('vocative.locked_feed')::bool
), counted AS MATERIALIZED (
  SELECT s.*, CASE WHEN s.target = s.read_up_to THEN s.unread_count ELSE (
    -- created_seq is never above seq, so the index by seq bounds the count.
    SELECT count(*) FROM vocative.entry AS e
    WHERE e.thread_id = $2 AND e.seq > s.target AND e.created_seq > s.target
      AND e.sender_id <> $1 AND e.kind <> 'system' AND e.deleted_at IS NULL) END AS unread
  FROM state AS s
), marked AS (
  UPDATE vocative.feed_thread AS ft
  SET read_up_to = c.target, unread_count = c.unread, place = c.head + 1
  FROM counted AS c
  WHERE ft.user_id = $1 AND ft.thread_id = $2 AND c.target <> c.read_up_to
), moved AS (
  UPDATE vocative.feed AS f SET seq = c.head + 1
  FROM counted AS c
  WHERE f.user_id = $1 AND c.target <> c.read_up_to
)
SELECT target AS read_up_to, unread AS unread_count,
  head + (target <> read_up_to)::int AS head, target <> read_up_to AS changed
FROM counted
