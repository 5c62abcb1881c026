"""Apache Pulsar: Key_Shared subscriptions and the selectors that map a key's hash to a consumer."""
