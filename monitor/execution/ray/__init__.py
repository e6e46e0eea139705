"""Scorers as actors on a Ray cluster, so that many machines score for one queue.

Ray places processes and tells when one has ended; nothing else goes through it. Records and
results go between each actor and the queue, so a machine that is lost costs the leases that
its scorers held, and nothing more.
"""
