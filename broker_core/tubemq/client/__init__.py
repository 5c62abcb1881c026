"""Client programs of TubeMQ, as nodes: a producer, and a consumer that balances for itself."""
