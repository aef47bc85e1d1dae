-- Puts the strings of one type, if vocabulary_put found its only item changed. Comes after
-- vocabulary_clear.
-- $1 user, $2 type, $3 phrases, $4 identifiers, $5 pronunciation hints, in order
INSERT INTO vocative.vocabulary_string (user_id, type, position, phrase, identifier,
  pronunciation_hint)
SELECT $1, $2, ordinal - 1, phrase, identifier, hint
FROM unnest($3, $4, $5) WITH ORDINALITY AS i (phrase, identifier, hint, ordinal)
WHERE 1 = ANY (current_setting('vocative.changed_vocabulary')::int8[])
