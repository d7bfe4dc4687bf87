"""One run's way from a serialised specification to a durable result."""
