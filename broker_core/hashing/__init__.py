"""Hash functions and hash orders of the four systems, bit for bit."""
