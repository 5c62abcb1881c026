"""What the lanes of all four models have in common."""
