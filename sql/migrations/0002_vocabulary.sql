-- 0002 vocabulary: what users call people, groups and things, and the jobs that upload it.
-- The rules of 0001 hold here too.
BEGIN;

SET LOCAL lock_timeout = '5s';
SET LOCAL client_min_messages = warning;

DO $$ BEGIN PERFORM pg_advisory_xact_lock(7246291045); END $$;

SET LOCAL ROLE vocative_owner;

-- Distributed by user_id --------------------------------------------------------------------

ALTER TABLE vocative.feed ADD COLUMN vocabulary jsonb;
COMMENT ON COLUMN vocative.feed.vocabulary IS
  'Type to revision: a copy of vocabulary_set, so that a follower''s look costs this one row. '
  'Null for a user who never had any.';

CREATE TABLE vocative.vocabulary_set (
  user_id text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 128),
  type text COLLATE "C" NOT NULL,
  revision bigint NOT NULL CHECK (revision >= 1),
  count integer NOT NULL CHECK (count >= 0),
  hash bytea NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, type)
);
COMMENT ON TABLE vocative.vocabulary_set IS
  'One row per user and type that was ever uploaded; written under the lock of the user''s feed. '
  'A removed one stays with count 0, so that its revisions go on and never restart.';
COMMENT ON COLUMN vocative.vocabulary_set.hash IS
  'First 16 bytes of the SHA-256 of all strings in order: the same upload again writes nothing.';

-- No foreign key to vocabulary_set: every writer holds the feed's row lock, and a check for each
-- string would cost as much as the string.
CREATE TABLE vocative.vocabulary_string (
  user_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  position integer NOT NULL,
  phrase text COLLATE "C" NOT NULL,
  identifier text COLLATE "C",
  pronunciation_hint text COLLATE "C",
  PRIMARY KEY (user_id, type, position)
);
COMMENT ON TABLE vocative.vocabulary_string IS
  'The strings of each vocabulary_set; position 0 is the most important.';

-- Upload jobs, distributed by user_id: the principal that runs them.
CREATE TABLE vocative.vocabulary_job_batch (
  user_id text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 128),
  job_key text COLLATE "C" NOT NULL CHECK (octet_length(job_key) BETWEEN 1 AND 256),
  first_line bigint NOT NULL CHECK (first_line >= 1),
  lines integer NOT NULL CHECK (lines >= 1),
  chain bytea NOT NULL,
  results bytea NOT NULL,
  stored_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, job_key, first_line)
);
CREATE INDEX vocabulary_job_batch_by_age ON vocative.vocabulary_job_batch (user_id, stored_at);
COMMENT ON TABLE vocative.vocabulary_job_batch IS
  'What a job with an idempotency key has stored so far, in the transactions that stored it: when '
  'it is sent again after a break, these lines are answered from here. Kept for seven days.';
COMMENT ON COLUMN vocative.vocabulary_job_batch.chain IS
  'SHA-256 over the chain of the batch before and the batch''s lines: shows another body.';
COMMENT ON COLUMN vocative.vocabulary_job_batch.results IS
  'The answer to these lines, as NDJSON. Names users and counts, never a string of theirs.';

-- What each role may do ----------------------------------------------------------------------

GRANT UPDATE (vocabulary) ON vocative.feed TO vocative_service;
GRANT SELECT, INSERT ON vocative.vocabulary_set TO vocative_service;
GRANT UPDATE (revision, count, hash, updated_at) ON vocative.vocabulary_set TO vocative_service;
GRANT SELECT, INSERT, DELETE ON vocative.vocabulary_string TO vocative_service;
GRANT SELECT, INSERT, DELETE ON vocative.vocabulary_job_batch TO vocative_service;

INSERT INTO vocative.migration (version, name) VALUES (2, '0002_vocabulary');

COMMIT;
