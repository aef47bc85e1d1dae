-- Puts users into a thread, anew or again, or changes their roles and names. Needs all locks.
-- $1 thread, $2 users, $3 roles, $4 names, $5 first sequence number that those who come may see,
-- $6 what they have read
-- Returns the heads of the feeds of those who came in.
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($2, $3, $4) AS i (user_id, role, name)
), moment AS MATERIALIZED (
  SELECT date_trunc('milliseconds', now()) AS now
), known AS MATERIALIZED (
  SELECT p.user_id, p.left_at IS NULL AS present
  FROM vocative.participant AS p
  WHERE p.thread_id = $1 AND p.user_id = ANY ($2)
), changed AS (
  UPDATE vocative.participant AS p
  SET role = i.role, name = i.name, left_at = NULL,
    joined_at = CASE WHEN k.present THEN p.joined_at ELSE m.now END
  FROM item AS i JOIN known AS k USING (user_id), moment AS m
  WHERE p.thread_id = $1 AND p.user_id = i.user_id
), added AS (
  INSERT INTO vocative.participant (thread_id, user_id, role, name, joined_at)
  SELECT $1, i.user_id, i.role, i.name, m.now
  FROM item AS i, moment AS m
  WHERE NOT EXISTS (SELECT FROM known AS k WHERE k.user_id = i.user_id)
), coming AS MATERIALIZED (
  SELECT i.user_id, f.seq + 1 AS place
  FROM item AS i JOIN vocative.feed AS f USING (user_id)
  WHERE NOT EXISTS (SELECT FROM known AS k WHERE k.user_id = i.user_id AND k.present)
), returned AS (
  UPDATE vocative.feed_thread AS ft
  SET place = c.place, joined_place = c.place, visible_from = $5, read_up_to = $6,
    unread_count = 0, activity_at = m.now, removed = false
  FROM coming AS c, moment AS m
  WHERE ft.user_id = c.user_id AND ft.thread_id = $1
  RETURNING ft.user_id
), entered AS (
  INSERT INTO vocative.feed_thread (user_id, thread_id, place, joined_place, visible_from,
    read_up_to, activity_at)
  SELECT c.user_id, $1, c.place, c.place, $5, $6, m.now
  FROM coming AS c, moment AS m
  WHERE NOT EXISTS (
    SELECT FROM vocative.feed_thread AS ft WHERE ft.user_id = c.user_id AND ft.thread_id = $1)
)
UPDATE vocative.feed AS f SET seq = c.place
FROM coming AS c WHERE f.user_id = c.user_id
RETURNING f.user_id, f.seq
