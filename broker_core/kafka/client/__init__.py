"""Client programs of Kafka, as nodes: a producer, and a consumer of a group."""
