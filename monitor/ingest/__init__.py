"""Live traffic in: GenAI telemetry and posted records become `IncomingRecord`s."""
