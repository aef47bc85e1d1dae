// PostgresWire
