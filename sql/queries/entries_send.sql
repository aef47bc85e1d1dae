-- Sends entries, several of several senders at once. Items of one unit (a batch) succeed together
-- or not at all; units do not touch each other. Needs the threads' and the feeds' locks.
-- $1 threads, $2 entry ids, $3 units, $4 senders, $5 kinds, $6 texts, $7 sent at, $8 reply to,
-- $9 recipients, $10 attachments, $11 body hashes: arrays of one length, an element an item
-- Returns a row an item, in order: its outcome, and the entry as it is now (null where absent).
--   created, replayed   done
--   absent              no such thread, or the sender is not in it
--   conflict            the id is taken by another body or another sender
--   recipients          not all recipients are participants, or the thread is no mail thread
--   reply               there is no entry to reply to that the sender may see
--   refused             another item of its unit was not accepted
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) WITH ORDINALITY AS i (
    thread_id, entry_id, unit, sender_id, kind, text, sent_at, reply_to, recipients, attachments,
    body_hash, ordinal)
), moment AS MATERIALIZED (
  SELECT date_trunc('milliseconds', clock_timestamp()) AS now
), judged AS MATERIALIZED (
  SELECT i.*, t.seq AS base,
    CASE
      WHEN t.seq IS NULL THEN 'absent'
      WHEN e.sender_id <> i.sender_id OR e.kind = 'system' THEN 'conflict'
      WHEN e.body_hash <> i.body_hash THEN 'conflict'
      WHEN e.entry_id IS NOT NULL THEN 'replayed'
      WHEN i.recipients IS NOT NULL AND (t.kind <> 'mail' OR EXISTS (
        SELECT FROM jsonb_path_query(i.recipients, '$.*[*]') AS r (user_id)
        WHERE NOT EXISTS (
          SELECT FROM vocative.participant AS o
          WHERE o.thread_id = i.thread_id AND o.user_id = r.user_id #>> '{}'
            AND o.left_at IS NULL))) THEN 'recipients'
      WHEN i.reply_to IS NOT NULL AND NOT EXISTS (
        SELECT FROM vocative.entry AS o
        WHERE o.thread_id = i.thread_id AND o.entry_id = i.reply_to
          AND o.created_seq >= t.visible_from)
        AND NOT EXISTS (
        SELECT FROM item AS o
        WHERE o.unit = i.unit AND o.ordinal < i.ordinal
          AND o.thread_id = i.thread_id AND o.entry_id = i.reply_to) THEN 'reply'
      ELSE 'created'
    END AS outcome
  FROM item AS i
  -- OFFSET 0 keeps these from becoming joins, for which the planner may find another order and
  -- scan an index where it believes a table to be empty; and its plan is kept.
  LEFT JOIN LATERAL (
    SELECT t.kind, t.seq, ft.visible_from
    FROM vocative.thread AS t, vocative.participant AS p, vocative.feed_thread AS ft
    WHERE t.thread_id = i.thread_id
      AND i.thread_id = ANY ((SELECT current_setting('vocative.locked_threads')::uuid[])::uuid[])
      AND p.thread_id = i.thread_id AND p.user_id = i.sender_id AND p.left_at IS NULL
      AND ft.user_id = i.sender_id AND ft.thread_id = i.thread_id
    OFFSET 0
  ) AS t ON true
  LEFT JOIN LATERAL (
    SELECT * FROM vocative.entry AS o
    WHERE o.thread_id = i.thread_id AND o.entry_id = i.entry_id
    OFFSET 0
  ) AS e ON true
), ruled AS MATERIALIZED (
  SELECT j.*, bool_and(outcome IN ('created', 'replayed')) OVER (PARTITION BY unit) AS accepted
  FROM judged AS j
), created AS (
  INSERT INTO vocative.entry (thread_id, entry_id, seq, created_seq, sender_id, kind, text,
    sent_at, received_at, reply_to, recipients, attachments, body_hash)
  SELECT thread_id, entry_id, base + n, base + n, sender_id, kind, text,
    coalesce(sent_at, moment.now), moment.now, reply_to, recipients, attachments, body_hash
  FROM (
    SELECT *, row_number() OVER (PARTITION BY thread_id ORDER BY ordinal) AS n
    FROM ruled WHERE outcome = 'created' AND accepted
  ) AS fresh, moment
  RETURNING *
)
SELECT
  CASE WHEN NOT r.accepted AND r.outcome IN ('created', 'replayed') THEN 'refused'
    ELSE r.outcome END AS outcome,
  e.entry_id, e.thread_id, e.seq, e.created_seq, e.sender_id, e.kind, e.text, e.sent_at,
  e.received_at, e.edited_at, e.deleted_at, e.reply_to, e.recipients, e.attachments, e.system
FROM ruled AS r
LEFT JOIN LATERAL (
  SELECT * FROM created AS c WHERE c.thread_id = r.thread_id AND c.entry_id = r.entry_id
  UNION ALL
  SELECT * FROM vocative.entry AS o
  WHERE r.outcome = 'replayed' AND o.thread_id = r.thread_id AND o.entry_id = r.entry_id
) AS e ON r.accepted
ORDER BY r.ordinal
