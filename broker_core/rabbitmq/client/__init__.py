"""Client programs of RabbitMQ, as nodes: one that publishes, one that consumes."""
