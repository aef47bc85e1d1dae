-- Replaces the app vocabulary of a locale. The same again writes nothing.
-- $1 locale, $2 terms, $3 examples
-- Returns one row: the revision as it is now, and whether it changed.
WITH before AS MATERIALIZED (
  SELECT revision, terms = $2 AND examples = $3 AS same
  FROM vocative.app_vocabulary WHERE locale = $1 FOR UPDATE
), put AS (
  INSERT INTO vocative.app_vocabulary AS v (locale, revision, terms, examples)
  SELECT $1, coalesce((SELECT revision FROM before), 0) + 1, $2, $3
  WHERE NOT coalesce((SELECT same FROM before), false)
  ON CONFLICT (locale) DO UPDATE SET revision = v.revision + 1, terms = excluded.terms,
    examples = excluded.examples, imported_at = now()
  RETURNING revision
)
SELECT coalesce(put.revision, before.revision) AS revision, put.revision IS NOT NULL AS changed
FROM (SELECT) AS one LEFT JOIN before ON true LEFT JOIN put ON true
