"""Which records are scored: consistent probability sampling within strata."""
