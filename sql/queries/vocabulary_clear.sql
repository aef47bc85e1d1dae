-- Removes the strings of what vocabulary_put found changed.
-- $1 users, $2 types, as vocabulary_put had them
DELETE FROM vocative.vocabulary_string AS s
USING unnest($1, $2) WITH ORDINALITY AS i (user_id, type, ordinal)
WHERE s.user_id = i.user_id AND s.type = i.type
  AND i.ordinal = ANY (current_setting('vocative.changed_vocabulary')::int8[])
