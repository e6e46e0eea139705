"""Sentence embeddings: texts become points on the unit sphere."""
