"""Gauges computed from SQL: `refresh` reads, `traffic` and `verdicts` make samples of it."""
