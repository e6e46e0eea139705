"""Which words of a document carry its summary, and how stable that answer is.

A *value function* scores masked documents, a *method* (SHAP, LIME, SMILE, attention) turns
it into one number per word, and *instability* compares those numbers between a document and
its reworded versions. Everything here is handed its models; nothing is loaded on import of
this package, so that a user of one method does not pay for the libraries of the others.
"""
