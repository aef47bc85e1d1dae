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
      WHEN p.user_id IS NULL THEN 'absent'
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
          AND o.created_seq >= ft.visible_from)
        AND NOT EXISTS (
        SELECT FROM item AS o
        WHERE o.unit = i.unit AND o.ordinal < i.ordinal
          AND o.thread_id = i.thread_id AND o.entry_id = i.reply_to) THEN 'reply'
      ELSE 'created'
    END AS outcome
  FROM item AS i
  LEFT JOIN vocative.thread AS t ON t.thread_id = i.thread_id
    AND t.thread_id = ANY (current_setting('vocative.locked_threads')::uuid[])
  LEFT JOIN vocative.participant AS p ON p.thread_id = t.thread_id AND p.user_id = i.sender_id
    AND p.left_at IS NULL
  LEFT JOIN vocative.feed_thread AS ft ON ft.user_id = p.user_id AND ft.thread_id = p.thread_id
  LEFT JOIN vocative.entry AS e ON e.thread_id = i.thread_id AND e.entry_id = i.entry_id
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
LEFT JOIN (
  SELECT * FROM created
  UNION ALL
  SELECT o.* FROM vocative.entry AS o
  JOIN ruled AS x ON x.thread_id = o.thread_id AND x.entry_id = o.entry_id
  WHERE x.outcome = 'replayed' AND x.accepted
) AS e ON r.accepted AND e.thread_id = r.thread_id AND e.entry_id = r.entry_id
ORDER BY r.ordinal
