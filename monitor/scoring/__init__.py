"""From summary distributions to a severity: distance, normalizer, HSS.

Nothing is imported here, so that a calibration or a normalizer can be read without
loading the optimal-transport library.
"""
