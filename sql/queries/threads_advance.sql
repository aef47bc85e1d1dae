-- The last step of every write to threads: whatever its earlier steps put into the threads gets
-- its sequence numbers counted and its places in the participants' feeds. It works from the state
-- alone (entries above thread.seq are the new ones), so that every kind of write shares it.
-- $1 those of the locked threads whose participants are to be told even if no entry changed
-- Returns the new heads of the feeds, for wake-ups.
WITH entries AS MATERIALIZED (
  SELECT t.thread_id, t.seq AS old_seq, t.last_activity_at, e.seq, e.sender_id, e.received_at,
    e.created_seq, e.created_seq > t.seq AS fresh, e.deleted_at IS NOT NULL AS gone,
    e.kind <> 'system' AS counts
  FROM vocative.thread AS t
  LEFT JOIN vocative.entry AS e ON e.thread_id = t.thread_id AND e.seq > t.seq
  WHERE t.thread_id = ANY ((SELECT current_setting('vocative.locked_threads')::uuid[])::uuid[])
), news AS MATERIALIZED (
  SELECT thread_id, old_seq, coalesce(max(seq), old_seq) AS new_seq,
    greatest(last_activity_at, max(received_at) FILTER (WHERE fresh)) AS activity_at,
    -- The sender of each entry that is unread to all others.
    array_agg(sender_id) FILTER (WHERE fresh AND counts AND NOT gone) AS senders,
    coalesce(bool_or(gone AND counts AND NOT fresh), false) AS some_gone
  FROM entries GROUP BY thread_id, old_seq, last_activity_at
), moved AS MATERIALIZED (
  SELECT p.user_id, n.thread_id, n.activity_at, n.some_gone,
    f.seq + sum(greatest(n.new_seq - n.old_seq, 1))
      OVER (PARTITION BY p.user_id ORDER BY n.thread_id) AS place,
    coalesce(cardinality(array_remove(n.senders, p.user_id)), 0) AS more
  FROM news AS n
  JOIN vocative.participant AS p ON p.thread_id = n.thread_id AND p.left_at IS NULL
  JOIN vocative.feed AS f USING (user_id)
  WHERE n.new_seq > n.old_seq OR n.thread_id = ANY ($1)
), placed AS (
  -- Joined to nothing but the rows to change: a plan that also joined the feed could find a
  -- user's row among all their threads rather than by its key.
  UPDATE vocative.feed_thread AS ft
  SET place = m.place,
    activity_at = m.activity_at,
    unread_count = ft.unread_count + m.more - CASE WHEN m.some_gone THEN (
      SELECT count(*) FROM entries AS e
      WHERE e.thread_id = ft.thread_id AND e.gone AND e.counts AND NOT e.fresh
        AND e.sender_id <> ft.user_id AND e.created_seq > ft.read_up_to) ELSE 0 END
  FROM moved AS m
  WHERE ft.user_id = m.user_id AND ft.thread_id = m.thread_id
), counted AS (
  UPDATE vocative.thread AS t
  SET seq = n.new_seq, last_activity_at = n.activity_at
  FROM news AS n
  WHERE t.thread_id = n.thread_id AND n.new_seq > n.old_seq
)
UPDATE vocative.feed AS f
SET seq = m.place
FROM (SELECT user_id, max(place) AS place FROM moved GROUP BY user_id) AS m
WHERE f.user_id = m.user_id
RETURNING f.user_id, f.seq
