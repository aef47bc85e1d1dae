-- Which of these ids are threads, whoever is in them.
-- $1 threads
SELECT thread_id FROM vocative.thread WHERE thread_id = ANY ($1)
