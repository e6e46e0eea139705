"""Experiments over real documents: the figures that the documentation states."""
