"""What a page draws beside the Stage: pure functions from the states of a world's nodes to plain JSON, a
panel a file."""
