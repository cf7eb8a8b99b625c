"""From results to a manifest: what a table or a harness's output shows, as a benchmark that it could be."""
