"""Labs that are open to real clients: `checks.py` says who may open one, `door.py` holds a lab's sockets, `shard.py` drives such
labs on a Celery queue of their own, `state.py` is what a lab's driver knows of it.

    socket ─► door ─► order `rabbitmq_socket`, stored ─► decided as any order, stored ─► what leaves ─► door ─► socket
"""
