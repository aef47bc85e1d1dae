-- 0001 core: roles, threads, participants, entries and feeds.
--
-- Rules that every table here keeps (docs/architecture.md says why):
--   * The distribution column (thread_id or user_id) is part of every primary key and unique
--     constraint, and no foreign key leads from one group to the other, so that the same schema
--     runs on Citus.
--   * Order comes from counters that are taken under a row lock: thread.seq and feed.seq. Locks
--     are taken on threads first, by thread_id, then on feeds, by user_id.
--   * Nothing that a client has seen is removed from its feed; it becomes a tombstone.
BEGIN;

SET LOCAL lock_timeout = '5s';
SET LOCAL client_min_messages = warning;

-- One migration at a time, whoever runs it (the number is arbitrary but fixed).
DO $$ BEGIN PERFORM pg_advisory_xact_lock(7246291045); END $$;

-- Roles belong to the cluster, so another database of it may have made them already.
-- They cannot log in: an operator's log-in roles are made members of them.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['vocative_owner', 'vocative_service', 'vocative_reporting'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- another database's migration made it in the same moment
      END;
    END IF;
  END LOOP;
  IF NOT pg_has_role(current_user, 'vocative_owner', 'MEMBER') THEN
    EXECUTE format('GRANT vocative_owner TO %I', current_user);
  END IF;
  -- The owner makes the schema itself, and needs nothing more of the database than that.
  EXECUTE format('GRANT CREATE ON DATABASE %I TO vocative_owner', current_database());
END
$$;

SET LOCAL ROLE vocative_owner;

CREATE SCHEMA vocative;

CREATE TABLE vocative.migration (
  version integer PRIMARY KEY,
  name text NOT NULL,
  checksum text,
  applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE vocative.migration IS
  'What has been applied. checksum is the SHA-256 of the file, filled in by `vocative migrate`; '
  'null where psql applied the file and `vocative migrate` has not run since.';

-- Reference data (a reference table on Citus).
CREATE TABLE vocative.installation (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  epoch uuid NOT NULL DEFAULT gen_random_uuid(),
  token_key bytea NOT NULL CHECK (octet_length(token_key) = 32)
);
COMMENT ON COLUMN vocative.installation.epoch IS
  'Turns after a restore: tokens of another epoch are refused with 410, since their numbers may '
  'lie in a future that this database never had.';
COMMENT ON COLUMN vocative.installation.token_key IS
  'HMAC-SHA-256 key of the feed tokens, shared by all replicas of the service.';
INSERT INTO vocative.installation (token_key)
VALUES (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
  || uuid_send(gen_random_uuid())));

-- Distributed by thread_id ------------------------------------------------------------------

CREATE TABLE vocative.thread (
  thread_id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('message', 'mail')),
  history text NOT NULL CHECK (history IN ('join', 'full')),
  subject text,
  created_by text COLLATE "C" NOT NULL,
  create_hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  last_activity_at timestamptz NOT NULL,
  seq bigint NOT NULL DEFAULT 0 CHECK (seq >= 0)
) WITH (fillfactor = 70);
COMMENT ON COLUMN vocative.thread.seq IS
  'The highest sequence number that an entry of this thread has; its row lock orders all writes.';
COMMENT ON COLUMN vocative.thread.create_hash IS
  'SHA-256 of the normalised creating request: the same request again is a replay.';

CREATE TABLE vocative.participant (
  thread_id uuid NOT NULL REFERENCES vocative.thread,
  user_id text COLLATE "C" NOT NULL CHECK (octet_length(user_id) BETWEEN 1 AND 128),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  name jsonb,
  joined_at timestamptz NOT NULL,
  left_at timestamptz,
  PRIMARY KEY (thread_id, user_id)
);
COMMENT ON COLUMN vocative.participant.left_at IS
  'Set for a former participant, whose name the entries that remain still need.';

-- No foreign key to thread: every writer of entries holds the thread's row lock, and a check for
-- each entry would cost as much as the entry.
CREATE TABLE vocative.entry (
  thread_id uuid NOT NULL,
  entry_id uuid NOT NULL,
  seq bigint NOT NULL CHECK (seq > 0),
  created_seq bigint NOT NULL CHECK (created_seq BETWEEN 1 AND seq),
  sender_id text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN
    ('text', 'image', 'sticker', 'audio', 'video', 'file', 'location', 'system')),
  text text,
  sent_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  edited_at timestamptz,
  deleted_at timestamptz,
  reply_to uuid,
  recipients jsonb,
  attachments jsonb,
  system jsonb,
  body_hash bytea,
  PRIMARY KEY (thread_id, entry_id),
  CHECK (deleted_at IS NULL OR (text IS NULL AND attachments IS NULL AND recipients IS NULL))
);
CREATE UNIQUE INDEX entry_by_seq ON vocative.entry (thread_id, seq);
COMMENT ON TABLE vocative.entry IS
  'One row an entry. The primary key is its idempotency key, for ever.';
COMMENT ON COLUMN vocative.entry.seq IS
  'The entry''s place now; an edit or a delete moves it to a new one, and the old stays empty.';
COMMENT ON COLUMN vocative.entry.body_hash IS
  'First 16 bytes of the SHA-256 of the normalised body that created it. Null where a delete '
  'came before the create: then any body of the same sender is answered with the tombstone.';

-- Distributed by user_id --------------------------------------------------------------------

CREATE TABLE vocative.feed (
  user_id text COLLATE "C" PRIMARY KEY CHECK (octet_length(user_id) BETWEEN 1 AND 128),
  seq bigint NOT NULL DEFAULT 0 CHECK (seq >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE vocative.feed IS
  'A user''s feed: seq is the highest place given out. Each sequence number of a thread takes at '
  'least one place in the feed of each of its participants.';

CREATE TABLE vocative.feed_thread (
  user_id text COLLATE "C" NOT NULL,
  thread_id uuid NOT NULL,
  place bigint NOT NULL,
  joined_place bigint NOT NULL,
  visible_from bigint NOT NULL CHECK (visible_from >= 1),
  read_up_to bigint NOT NULL CHECK (read_up_to >= 0),
  unread_count bigint NOT NULL DEFAULT 0 CHECK (unread_count >= 0),
  activity_at timestamptz NOT NULL,
  removed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (user_id, thread_id)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX feed_thread_by_place ON vocative.feed_thread (user_id, place);
CREATE INDEX feed_thread_by_activity ON vocative.feed_thread (user_id, activity_at, thread_id)
  WHERE NOT removed;
COMMENT ON TABLE vocative.feed_thread IS
  'One row per user and thread: the thread''s place in the user''s feed, and what is the user''s '
  'own about it. It compacts itself: a thread that changes again moves to the end.';
COMMENT ON COLUMN vocative.feed_thread.joined_place IS
  'The place at which the user came into the thread: a follower from before has none of it.';
COMMENT ON COLUMN vocative.feed_thread.visible_from IS
  'The lowest created_seq that the user may see.';

-- These two take an update for every participant of every entry.
ALTER TABLE vocative.feed SET (autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 2000);
ALTER TABLE vocative.feed_thread SET (autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 2000);

-- What each role may do ----------------------------------------------------------------------

GRANT USAGE ON SCHEMA vocative TO vocative_service;
GRANT SELECT ON vocative.migration, vocative.installation TO vocative_service;
GRANT SELECT, INSERT ON vocative.thread, vocative.participant, vocative.entry, vocative.feed,
  vocative.feed_thread TO vocative_service;
-- SELECT … FOR UPDATE wants UPDATE on one column at least; these are the columns that change.
GRANT UPDATE (seq, last_activity_at) ON vocative.thread TO vocative_service;
GRANT UPDATE (role, name, joined_at, left_at) ON vocative.participant TO vocative_service;
GRANT UPDATE (seq, text, edited_at, deleted_at, recipients, attachments) ON vocative.entry
  TO vocative_service;
GRANT UPDATE (seq) ON vocative.feed TO vocative_service;
GRANT UPDATE (place, joined_place, visible_from, read_up_to, unread_count, activity_at, removed)
  ON vocative.feed_thread TO vocative_service;
-- vocative_reporting sees nothing of these tables; the reporting views will be all it gets.

INSERT INTO vocative.migration (version, name) VALUES (1, '0001_core');

COMMIT;
