"""From a page at night to its cause: web pages, their pictures, and the same facts as JSON."""
