-- Makes a thread, unless it exists. The first step of a creation.
-- $1 thread, $2 kind, $3 history, $4 subject, $5 creator, $6 hash of the request
-- Returns one row where it was made.
INSERT INTO vocative.thread (thread_id, kind, history, subject, created_by, create_hash,
  created_at, last_activity_at)
VALUES ($1, $2, $3, $4, $5, $6, date_trunc('milliseconds', now()),
  date_trunc('milliseconds', now()))
ON CONFLICT (thread_id) DO NOTHING
RETURNING thread_id
