"""What a Kafka producer decides by itself: the partition of each record."""
