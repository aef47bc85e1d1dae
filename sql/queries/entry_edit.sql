-- Edits an entry's text or attachments. Needs the locks of the thread and of its feeds.
-- $1 thread, $2 entry, $3 caller, $4 whether the text changes, $5 new text,
-- $6 whether the attachments change, $7 new attachments, $8 whether those are places
-- Returns one row: the outcome, and the entry as it is now.
--   edited, unchanged
--   absent      no such thread or entry for the caller
--   forbidden   the caller is not its sender
--   deleted     it is a tombstone
--   invalid     the new attachments are not of the entry's kind
WITH judged AS MATERIALIZED (
  SELECT e.entry_id, t.seq + 1 AS next,
    CASE WHEN $4 THEN $5 ELSE e.text END AS new_text,
    CASE WHEN $6 THEN $7 ELSE e.attachments END AS new_attachments,
    CASE
      WHEN e.entry_id IS NULL OR e.created_seq < ft.visible_from THEN 'absent'
      WHEN e.sender_id <> $3 OR e.kind = 'system' THEN 'forbidden'
      WHEN e.deleted_at IS NOT NULL THEN 'deleted'
      WHEN $6 AND (e.kind = 'location') <> $8 THEN 'invalid'
      WHEN (NOT $4 OR e.text IS NOT DISTINCT FROM $5)
        AND (NOT $6 OR e.attachments IS NOT DISTINCT FROM $7) THEN 'unchanged'
      ELSE 'edited'
    END AS outcome
  FROM (SELECT $1 AS thread_id) AS i
  LEFT JOIN vocative.participant AS p ON p.thread_id = i.thread_id AND p.user_id = $3
    AND p.left_at IS NULL AND p.thread_id = ANY (current_setting('vocative.locked_threads')::uuid[])
  LEFT JOIN vocative.feed_thread AS ft ON ft.user_id = p.user_id AND ft.thread_id = p.thread_id
  LEFT JOIN vocative.thread AS t ON t.thread_id = p.thread_id
  LEFT JOIN vocative.entry AS e ON e.thread_id = p.thread_id AND e.entry_id = $2
), edited AS (
  UPDATE vocative.entry AS e
  SET seq = j.next, text = j.new_text, attachments = j.new_attachments,
    edited_at = date_trunc('milliseconds', clock_timestamp())
  FROM judged AS j
  WHERE e.thread_id = $1 AND e.entry_id = $2 AND j.outcome = 'edited'
  RETURNING e.*
)
SELECT j.outcome, e.entry_id, e.thread_id, e.seq, e.created_seq, e.sender_id, e.kind, e.text,
  e.sent_at, e.received_at, e.edited_at, e.deleted_at, e.reply_to, e.recipients, e.attachments,
  e.system
FROM judged AS j
LEFT JOIN (
  SELECT * FROM edited
  UNION ALL
  SELECT o.* FROM vocative.entry AS o, judged AS x
  WHERE o.thread_id = $1 AND o.entry_id = $2 AND x.outcome = 'unchanged'
) AS e ON true
