"""Evidence kind series_metrics: runs of lrdbench."""
