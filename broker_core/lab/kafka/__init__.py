"""A Kafka lane of a lab."""
