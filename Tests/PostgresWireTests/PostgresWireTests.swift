// PostgresWireTests
