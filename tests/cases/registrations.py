"""What several test files share."""

YAML = {"Content-Type": "application/yaml"}
