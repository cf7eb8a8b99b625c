"""The use case: an upload, once read, becomes a stored submission or, in a dry run, only an answer."""
