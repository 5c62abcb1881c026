"""A lane is one model's world, the person's verbs on it, and observers that say what it means; one file a
model."""
