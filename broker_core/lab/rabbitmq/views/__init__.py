"""What the RabbitMQ page draws of its lane: pure functions to plain JSON, a panel a file."""
