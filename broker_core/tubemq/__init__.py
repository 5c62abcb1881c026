"""Apache InLong TubeMQ as far as the lab models it: a master that knows client-balanced and server-balanced groups, brokers,
and clients that assign partitions to themselves by the official example's rule."""
