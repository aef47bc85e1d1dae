-- One page of a user's feed, from one snapshot: what changed after a place, oldest first, and behind
-- it what an initial sync has still to give, newest first.
-- $1 user
-- $2 base: the head when the follower last was up to date; null: it begins now
-- $3 cursor: the highest place it has; null: the head
-- $4 bound: the initial sync has given what lies at or above it; null: it is over
-- $5 limit of threads, $6 limit of entries a thread
-- $7 bytes: the page ends with the thread that reaches them
-- Returns rows of three sorts, each thread's in this order:
--   0  the page itself (first row): its epoch as thread_id, its head as seq, the revisions of the
--      user's vocabulary as recipients, whether there is more
--   1  a thread   2  a participant   3  an entry, ascending; one more than $6 where there are older
WITH head AS MATERIALIZED (
  SELECT i.epoch, coalesce(f.seq, 0) AS seq, f.vocabulary
  FROM vocative.installation AS i
  LEFT JOIN vocative.feed AS f ON f.user_id = $1
), forward AS MATERIALIZED (
  SELECT ft.*, row_number() OVER (ORDER BY ft.place) AS n
  FROM vocative.feed_thread AS ft
  WHERE ft.user_id = $1 AND ft.place > coalesce($3, (SELECT seq FROM head))
  ORDER BY ft.place LIMIT $5 + 1
), backward AS MATERIALIZED (
  SELECT ft.*, row_number() OVER (ORDER BY ft.place DESC)
    + (SELECT least(count(*), $5) FROM forward) AS n
  FROM vocative.feed_thread AS ft
  WHERE ft.user_id = $1 AND ft.place < $4 AND ft.place <= coalesce($3, (SELECT seq FROM head))
    AND NOT ft.removed
  ORDER BY ft.place DESC LIMIT $5 + 1
), chosen AS MATERIALIZED (
  SELECT ft.n, ft.thread_id, ft.place, ft.visible_from, ft.read_up_to, ft.unread_count,
    ft.removed, t.kind, t.history, t.subject, t.created_at, t.last_activity_at, t.seq,
    -- Each sequence number took a place or more, so no more of them than places are new.
    greatest(ft.visible_from - 1, CASE
      WHEN $4 IS NULL AND ft.joined_place <= $2 THEN t.seq - (ft.place - $2) ELSE 0 END) AS floor
  FROM (SELECT * FROM forward UNION ALL SELECT * FROM backward) AS ft
  JOIN vocative.thread AS t USING (thread_id)
  WHERE ft.n <= $5
), entries AS MATERIALIZED (
  SELECT c.n, e.*
  FROM chosen AS c
  CROSS JOIN LATERAL (
    SELECT * FROM vocative.entry AS e
    WHERE e.thread_id = c.thread_id AND e.seq > c.floor AND e.created_seq >= c.visible_from
    ORDER BY e.seq DESC LIMIT $6 + 1
  ) AS e
  WHERE NOT c.removed
), participants AS MATERIALIZED (
  SELECT c.n, p.*
  FROM chosen AS c
  JOIN vocative.participant AS p ON p.thread_id = c.thread_id
  WHERE NOT c.removed AND (p.left_at IS NULL OR EXISTS (
    SELECT FROM entries AS e
    WHERE e.thread_id = p.thread_id
      AND (e.sender_id = p.user_id OR e.system ->> 'userId' = p.user_id
        -- bcc names somebody to its sender only, and to themselves.
        OR jsonb_path_exists(
          CASE WHEN e.sender_id = $1 OR p.user_id = $1 THEN e.recipients
            ELSE e.recipients - 'bcc' END,
          '$.*[*] ? (@ == $u)', jsonb_build_object('u', p.user_id)))))
), page AS MATERIALIZED (
  -- The number of the last thread. Sizes are near what the answer will have.
  SELECT max(n) AS last
  FROM (
    SELECT n, sum(bytes) OVER (ORDER BY n) - bytes AS bytes_before
    FROM (
      SELECT n, sum(bytes) AS bytes
      FROM (
        SELECT n, 400 + coalesce(octet_length(text), 0)
          + coalesce(pg_column_size(attachments), 0) AS bytes
        FROM entries
        UNION ALL
        SELECT n, 100 FROM participants
        UNION ALL
        SELECT n, 400 FROM chosen
      ) AS items
      GROUP BY n
    ) AS threads
  ) AS threads
  WHERE bytes_before < $7
)
SELECT 0::int2 AS sort, 0::int8 AS n, NULL::uuid AS entry_id, epoch AS thread_id, seq,
  NULL::int8 AS created_seq, NULL::text AS sender_id, NULL::text AS kind, NULL::text AS text,
  NULL::timestamptz AS sent_at, NULL::timestamptz AS received_at, NULL::timestamptz AS edited_at,
  NULL::timestamptz AS deleted_at, NULL::uuid AS reply_to, vocabulary AS recipients,
  NULL::jsonb AS attachments, NULL::jsonb AS system,
  (SELECT count(*) > least($5, (SELECT last FROM page)) FROM forward) AS more_forward,
  (SELECT coalesce(max(n) > least($5, (SELECT last FROM page)), false) FROM backward) AS more_backward,
  NULL::text AS history, NULL::int8 AS place, NULL::int8 AS visible_from,
  NULL::int8 AS read_up_to, NULL::int8 AS unread_count, NULL::int8 AS floor
FROM head
UNION ALL
SELECT 1::int2, n, NULL, thread_id, seq, NULL, NULL, kind, subject, created_at, last_activity_at, NULL,
  NULL, NULL, NULL, NULL, NULL, removed, NULL, history, place, visible_from, read_up_to,
  unread_count, floor
FROM chosen, page WHERE n <= last
UNION ALL
SELECT 2::int2, n, NULL, thread_id, NULL, NULL, user_id, role, NULL, joined_at, NULL, NULL,
  left_at, NULL, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM participants, page WHERE n <= last
UNION ALL
SELECT 3::int2, n, entry_id, thread_id, seq, created_seq, sender_id, kind, text, sent_at, received_at,
  edited_at, deleted_at, reply_to, recipients, attachments, system, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL
FROM entries, page WHERE n <= last
ORDER BY n, sort, seq, sender_id
