"""What the JSON answers hold, for the description of the API at /openapi.json; a test compares real answers with it."""
