"""A summarization service to be watched, and the traffic that it gets."""
