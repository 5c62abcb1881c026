"""Groups of the consumer protocol of KIP-848: the coordinator assigns, members reconcile; a file per step."""
