"""Summarizers behind one port: local models, chat and HTTP endpoints, and replays.

Each module is one implementation of `monitor.ports.Summarizer`; nothing is imported
here, so that a process that replays over HTTP never loads torch or spaCy.
"""
