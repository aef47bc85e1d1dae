-- A page of a thread's entries by sequence, as far as the caller may see them.
-- $1 thread, $2 caller, $3 after (exclusive), $4 before (exclusive), $5 newest first, $6 limit,
-- $7 bytes: the page ends with the entry that reaches them
-- Returns the entries, each with the number of those that were there for the page.
-- One row with a null entry_id: the caller is in the thread, and it has no entry here.
-- No row: the caller is not in the thread.
SELECT e.entry_id, e.thread_id, e.seq, e.created_seq, e.sender_id, e.kind, e.text, e.sent_at,
  e.received_at, e.edited_at, e.deleted_at, e.reply_to, e.recipients, e.attachments, e.system,
  coalesce(e.found, 0) AS found
FROM vocative.participant AS p
JOIN vocative.feed_thread AS ft ON ft.user_id = p.user_id AND ft.thread_id = p.thread_id
LEFT JOIN LATERAL (
  SELECT *, count(*) OVER () AS found, row_number() OVER outwards AS n,
    sum(coalesce(octet_length(text), 0) + coalesce(pg_column_size(attachments), 0)) OVER outwards
      - coalesce(octet_length(text), 0) - coalesce(pg_column_size(attachments), 0) AS bytes_before
  FROM (
    SELECT * FROM (
      SELECT * FROM vocative.entry
      WHERE NOT $5 AND thread_id = $1 AND seq > greatest($3, ft.visible_from - 1) AND seq < $4
        AND created_seq >= ft.visible_from
      ORDER BY seq LIMIT $6 + 1
    ) AS ascending
    UNION ALL
    SELECT * FROM (
      SELECT * FROM vocative.entry
      WHERE $5 AND thread_id = $1 AND seq > greatest($3, ft.visible_from - 1) AND seq < $4
        AND created_seq >= ft.visible_from
      ORDER BY seq DESC LIMIT $6 + 1
    ) AS descending
  ) AS there
  WINDOW outwards AS (ORDER BY CASE WHEN $5 THEN -seq ELSE seq END)
) AS e ON e.n <= $6 AND e.bytes_before < $7
WHERE p.thread_id = $1 AND p.user_id = $2 AND p.left_at IS NULL
ORDER BY e.seq
