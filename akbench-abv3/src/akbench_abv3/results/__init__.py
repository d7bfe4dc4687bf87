"""Results of runs and experiments: read, judged, aggregated."""
