"""A handler for each method that a client sends, a file for each class of methods: what it checks, and what it does."""
