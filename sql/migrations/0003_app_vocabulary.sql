-- 0003 app vocabulary: what all users of an app share, by locale.
-- The rules of 0001 hold here too.
BEGIN;

SET LOCAL lock_timeout = '5s';
SET LOCAL client_min_messages = warning;

DO $$ BEGIN PERFORM pg_advisory_xact_lock(7246291045); END $$;

SET LOCAL ROLE vocative_owner;

-- Reference data (reference tables on Citus): few rows, written by an operator.

CREATE TABLE vocative.app_vocabulary (
  locale text COLLATE "C" PRIMARY KEY CHECK (octet_length(locale) BETWEEN 2 AND 35),
  revision bigint NOT NULL CHECK (revision >= 1),
  terms jsonb NOT NULL,
  examples jsonb NOT NULL,
  imported_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE vocative.app_vocabulary IS
  'One row per locale: what an AppIntentVocabulary.plist holds. Read whole, once per revision.';
COMMENT ON COLUMN vocative.app_vocabulary.locale IS 'A language tag (RFC 5646), such as zh-Hans.';
COMMENT ON COLUMN vocative.app_vocabulary.terms IS
  '[{parameters: [name], identifier, synonyms: [{phrase, pronunciation?, examples?: [text]}]}]';
COMMENT ON COLUMN vocative.app_vocabulary.examples IS
  '[{intent, examples: [text]}]: whole phrases by which users reach the app.';

GRANT SELECT, INSERT ON vocative.app_vocabulary TO vocative_service;
GRANT UPDATE (revision, terms, examples, imported_at) ON vocative.app_vocabulary
  TO vocative_service;

INSERT INTO vocative.migration (version, name) VALUES (3, '0003_app_vocabulary');

COMMIT;
