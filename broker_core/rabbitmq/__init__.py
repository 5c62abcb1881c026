"""RabbitMQ 3.10 as far as the lab models it (docs/rabbitmq/left-out.md): virtual hosts and permissions, exchanges, classic
queues and their dispatch, channels with confirms and transactions, restart with a disk, and client programs."""
