"""The telemetry of a running server: logs, metrics and traces."""
