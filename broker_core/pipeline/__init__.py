"""The data pipeline: a user's own messages through every strategy, on Spark. The only part of the core that
imports pyspark."""
