-- The app vocabulary of all locales.
SELECT locale, revision, terms, examples FROM vocative.app_vocabulary ORDER BY locale
