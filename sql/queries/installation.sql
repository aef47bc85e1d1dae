-- The epoch, the key of the feed tokens, and the schema's version.
SELECT epoch, token_key, (SELECT max(version) FROM vocative.migration) AS version
FROM vocative.installation
