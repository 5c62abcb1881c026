"""Client programs of Pulsar, as nodes: a producer, and a consumer with its receiver queue."""
