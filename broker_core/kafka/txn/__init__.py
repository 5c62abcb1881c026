"""Transactions on the broker's side: the coordinator of a transactional id, its states, its records, and the
markers that end a transaction."""
