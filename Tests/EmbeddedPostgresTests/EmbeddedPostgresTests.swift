// EmbeddedPostgresTests
