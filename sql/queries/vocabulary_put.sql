-- Judges new contents of vocabulary types, and notes what changes: revision, count, hash, and a
-- place in the feeds. The strings follow, by vocabulary_clear and then vocabulary_fill or COPY.
-- Needs the locks of the users' feeds. No user and type may be there twice.
-- $1 users, $2 types, $3 hashes, $4 counts, $5 the revisions that the callers know (null: any;
-- -1: there must be no strings yet): arrays of one length, an element an item
-- Returns a row an item, in order: its outcome, the revision and count as they are now, the head
-- of the feed where it moved.
--   stored
--   unchanged   the same strings are there, also where the revision is another: a repeated call
--   refused     the revision is another
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY AS i (
    user_id, type, hash, count, expected, ordinal)
), judged AS MATERIALIZED (
  SELECT i.*, coalesce(s.revision, 0) AS revision, coalesce(s.count, 0) AS held,
    CASE
      WHEN s.hash = i.hash OR (coalesce(s.count, 0) = 0 AND i.count = 0) THEN 'unchanged'
      WHEN i.expected = -1 AND s.count > 0 THEN 'refused'
      WHEN i.expected >= 0 AND i.expected <> coalesce(s.revision, 0) THEN 'refused'
      ELSE 'stored'
    END AS outcome
  FROM item AS i
  LEFT JOIN LATERAL (
    SELECT * FROM vocative.vocabulary_set AS o
    WHERE o.user_id = i.user_id AND o.type = i.type
    OFFSET 0
  ) AS s ON true
), noted AS MATERIALIZED (
  -- For the statements behind this one.
  SELECT set_config('vocative.changed_vocabulary',
    coalesce(array_agg(ordinal) FILTER (WHERE outcome = 'stored'), '{}')::text, true) AS changed
  FROM judged
), put AS (
  INSERT INTO vocative.vocabulary_set (user_id, type, revision, count, hash, updated_at)
  SELECT user_id, type, revision + 1, count, hash, date_trunc('milliseconds', clock_timestamp())
  FROM judged WHERE outcome = 'stored'
  ON CONFLICT (user_id, type) DO UPDATE SET revision = excluded.revision, count = excluded.count,
    hash = excluded.hash, updated_at = excluded.updated_at
), moved AS (
  UPDATE vocative.feed AS f
  SET seq = f.seq + 1, vocabulary = coalesce(f.vocabulary, '{}') || j.revisions
  FROM (
    SELECT user_id, jsonb_object_agg(type, revision + 1) AS revisions
    FROM judged WHERE outcome = 'stored' GROUP BY user_id
  ) AS j
  WHERE f.user_id = j.user_id
  RETURNING f.user_id, f.seq
)
SELECT j.outcome, j.revision + (j.outcome = 'stored')::int AS revision,
  CASE WHEN j.outcome = 'stored' THEN j.count ELSE j.held END AS count, m.seq AS head
FROM judged AS j
JOIN noted ON true
LEFT JOIN moved AS m ON m.user_id = j.user_id
ORDER BY j.ordinal
