"""A Pulsar lane of a lab."""
