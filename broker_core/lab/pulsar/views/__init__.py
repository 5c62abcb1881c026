"""What the Subscription page draws of a Pulsar lane: pure functions to plain JSON, a panel a file."""
