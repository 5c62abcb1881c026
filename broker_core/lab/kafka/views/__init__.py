"""What the Cluster, Group and Log pages draw of a Kafka lane: pure functions to plain JSON, a panel a file."""
