-- Tells the other replicas whose feeds moved. Sent after the commit, never inside of it:
-- NOTIFY takes a lock at commit that all notifying transactions of the cluster share.
-- $1 payload
SELECT pg_notify('vocative_wake', $1)
