"""What a Kafka producer decides on its own: the partition of each record."""
