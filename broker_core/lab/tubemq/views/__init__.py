"""What the Stage draws of a TubeMQ lane: pure functions to plain JSON, a picture a file."""
