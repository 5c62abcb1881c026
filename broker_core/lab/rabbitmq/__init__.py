"""A RabbitMQ lane: one broker with a work queue, or with the topology that a scenario or a person declares."""
