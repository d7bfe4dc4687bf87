"""The repository's description of itself: agentbeats.toml and what Git knows."""
