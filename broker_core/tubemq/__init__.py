"""Apache InLong TubeMQ as far as the lab models it: client-side assignment of partitions by the official
example's rule."""
