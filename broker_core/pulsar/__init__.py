"""Apache Pulsar: a broker with topics, cursors and subscriptions of all four types (`dispatchers/`), the
selectors that map a key's hash to a consumer (`selectors/`), and client programs (`client/`)."""
