-- Leaves a system entry in a thread: somebody joined, left or was removed. Needs the thread's lock.
-- $1 thread, $2 entry ids, $3 who did it, $4 what happened (JSON): arrays of one length
INSERT INTO vocative.entry (thread_id, entry_id, seq, created_seq, sender_id, kind, sent_at,
  received_at, system)
SELECT $1, i.entry_id, t.seq + i.n, t.seq + i.n, i.sender_id, 'system', m.now, m.now, i.system
FROM unnest($2, $3, $4) WITH ORDINALITY AS i (entry_id, sender_id, system, n),
  vocative.thread AS t, (SELECT date_trunc('milliseconds', clock_timestamp()) AS now) AS m
WHERE t.thread_id = $1
