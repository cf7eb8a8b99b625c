"""The embedded Postgres: made, started, shared and stopped."""
