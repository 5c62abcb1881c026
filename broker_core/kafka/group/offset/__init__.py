"""Committed offsets: commit, fetch, delete, transactions, expiry; a file per step."""
