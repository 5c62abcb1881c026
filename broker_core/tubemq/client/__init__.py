"""Client programs of TubeMQ, as nodes: a producer, and a consumer that balances for itself; and the 17 calls of
ClientBalanceConsumer, which that consumer does not use yet."""
