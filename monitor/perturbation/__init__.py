"""Rewording documents without changing what they mean."""
