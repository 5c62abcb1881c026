"""A RabbitMQ lane: one broker with a work queue."""
