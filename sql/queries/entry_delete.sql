-- Deletes an entry: a tombstone stays. An id that does not exist yet is reserved by a tombstone, so
-- that a create that arrives after its delete stays deleted. Needs the locks of the thread and of
-- its feeds.
-- $1 thread, $2 entry, $3 caller
-- Returns one row, the outcome:
--   deleted, unchanged
--   absent      no such thread for the caller
--   invisible   an entry from before the caller came
--   forbidden   neither the sender nor an owner or admin
WITH judged AS MATERIALIZED (
  SELECT t.seq + 1 AS next, e.entry_id IS NULL AS unknown,
    CASE
      WHEN p.user_id IS NULL THEN 'absent'
      WHEN e.created_seq < ft.visible_from THEN 'invisible'
      WHEN e.entry_id IS NULL THEN 'deleted'
      WHEN e.kind = 'system' THEN 'forbidden'
      WHEN e.sender_id <> $3 AND p.role NOT IN ('owner', 'admin') THEN 'forbidden'
      WHEN e.deleted_at IS NOT NULL THEN 'unchanged'
      ELSE 'deleted'
    END AS outcome
  FROM (SELECT $1 AS thread_id) AS i
  LEFT JOIN vocative.participant AS p ON p.thread_id = i.thread_id AND p.user_id = $3
    AND p.left_at IS NULL AND p.thread_id = ANY (current_setting('vocative.locked_threads')::uuid[])
  LEFT JOIN vocative.feed_thread AS ft ON ft.user_id = p.user_id AND ft.thread_id = p.thread_id
  LEFT JOIN vocative.thread AS t ON t.thread_id = p.thread_id
  LEFT JOIN vocative.entry AS e ON e.thread_id = p.thread_id AND e.entry_id = $2
), moment AS MATERIALIZED (
  SELECT date_trunc('milliseconds', clock_timestamp()) AS now
), reserved AS (
  INSERT INTO vocative.entry (thread_id, entry_id, seq, created_seq, sender_id, kind, sent_at,
    received_at, deleted_at)
  SELECT $1, $2, next, next, $3, 'text', now, now, now
  FROM judged, moment WHERE outcome = 'deleted' AND unknown
), deleted AS (
  UPDATE vocative.entry AS e
  SET seq = j.next, text = NULL, attachments = NULL, recipients = NULL, deleted_at = m.now
  FROM judged AS j, moment AS m
  WHERE e.thread_id = $1 AND e.entry_id = $2 AND j.outcome = 'deleted' AND NOT j.unknown
)
SELECT outcome FROM judged
