"""The classic consumer group as its coordinator sees it."""
