"""Thresholds on windowed statistics, and the life of a breach: ok, pending, open, resolved."""
