"""What the figures of a study mean: formulas on plain rows, without Spark, labs or files."""
