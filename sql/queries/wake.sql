-- Tells the other replicas whose feeds moved. Sent after the commit, never inside of it:
-- NOTIFY takes a lock at commit that all notifying transactions of the cluster share.
-- A transaction of its own that does not wait for the disk: what it tells is a hint.
-- $1 payload
SELECT pg_notify('vocative_wake', $1), set_config('synchronous_commit', 'off', true)
