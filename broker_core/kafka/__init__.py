"""Apache Kafka as the lab runs it: the producer's partitioner and the assignors of a consumer group."""
