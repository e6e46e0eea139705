"""Whether what a summary says stands in its document: overlap, entailment, classification.

The severity cannot see a model that invents the same thing each time; these checks can.
Nothing is imported here, so that the overlap check does not load a transformer.
"""
