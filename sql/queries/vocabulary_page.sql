-- A page of a user's strings of one type, and the state of the whole, from one snapshot.
-- $1 user, $2 type, $3 first position, $4 limit, $5 bytes: the page ends with the string that
-- reaches them
-- Returns the strings in order, each with the revision and count of all. One row with a null
-- position: there is none here. No row: the user never had any of this type.
SELECT s.revision, s.count, s.updated_at, v.position, v.phrase, v.identifier,
  v.pronunciation_hint
FROM vocative.vocabulary_set AS s
LEFT JOIN LATERAL (
  SELECT *, sum(bytes) OVER (ORDER BY position) - bytes AS bytes_before
  FROM (
    SELECT *, 64 + octet_length(phrase) + coalesce(octet_length(identifier), 0)
      + coalesce(octet_length(pronunciation_hint), 0) AS bytes
    FROM vocative.vocabulary_string
    WHERE user_id = $1 AND type = $2 AND position >= $3
    ORDER BY position LIMIT $4
  ) AS there
) AS v ON v.bytes_before < $5
WHERE s.user_id = $1 AND s.type = $2
ORDER BY v.position
