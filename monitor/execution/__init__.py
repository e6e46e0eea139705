"""Where scorers run: as processes of this sidecar, or elsewhere on the same database."""
