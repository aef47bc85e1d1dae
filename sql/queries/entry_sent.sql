-- An entry that the user has sent.
-- $1 thread, $2 entry, $3 sender
SELECT e.entry_id, e.thread_id, e.seq, e.created_seq, e.sender_id, e.kind, e.text, e.sent_at,
  e.received_at, e.edited_at, e.deleted_at, e.reply_to, e.recipients, e.attachments, e.system
FROM vocative.entry AS e
JOIN vocative.participant AS p ON p.thread_id = e.thread_id AND p.user_id = e.sender_id
WHERE e.thread_id = $1 AND e.entry_id = $2 AND e.sender_id = $3 AND p.left_at IS NULL
