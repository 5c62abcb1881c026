"""RabbitMQ 3.10 as far as the lab models it: the dispatch of one classic queue."""
