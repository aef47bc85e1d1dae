-- A page of a thread's entries by sequence, as far as the caller may see them.
-- $1 thread, $2 caller, $3 after (exclusive), $4 before (exclusive), $5 newest first, $6 limit
-- One row with a null entry_id: the caller is in the thread, and it has no entry here.
-- No row: the caller is not in the thread.
SELECT e.entry_id, e.thread_id, e.seq, e.created_seq, e.sender_id, e.kind, e.text, e.sent_at,
  e.received_at, e.edited_at, e.deleted_at, e.reply_to, e.recipients, e.attachments, e.system
FROM vocative.participant AS p
JOIN vocative.feed_thread AS ft ON ft.user_id = p.user_id AND ft.thread_id = p.thread_id
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT * FROM vocative.entry
    WHERE NOT $5 AND thread_id = $1 AND seq > greatest($3, ft.visible_from - 1) AND seq < $4
      AND created_seq >= ft.visible_from
    ORDER BY seq LIMIT $6
  ) AS ascending
  UNION ALL
  SELECT * FROM (
    SELECT * FROM vocative.entry
    WHERE $5 AND thread_id = $1 AND seq > greatest($3, ft.visible_from - 1) AND seq < $4
      AND created_seq >= ft.visible_from
    ORDER BY seq DESC LIMIT $6
  ) AS descending
) AS e ON true
WHERE p.thread_id = $1 AND p.user_id = $2 AND p.left_at IS NULL
ORDER BY e.seq
