"""What leaves the sidecar for other tools: evaluation events, webhooks, exports."""
