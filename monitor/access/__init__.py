"""Who may do what over HTTP: tokens and roles, browser sessions, cross-site requests, headers."""
