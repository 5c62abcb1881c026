"""Apache Kafka: a cluster of brokers and a controller (`cluster/`, `controller/`), each partition's replicas
(`replication/`) and log (`log/`), coordinators of groups (`group/`) and of transactions (`txn/`), client programs
(`client/`), a producer's choice of partition (`producer/`) and the assignors of a group (`assignors/`)."""
