"""The use case: an upload that was read becomes a stored submission, or the answer to somebody who only asked."""
