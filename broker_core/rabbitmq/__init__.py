"""RabbitMQ 3.10 as far as the lab models it: connections and channels, the default exchange, classic queues and
their dispatch, and client programs."""
