"""A broker for real clients: the one place of the core with sockets and the wall clock.

    sockets, clock ─ server.py ─► run.py: a world, the journal of what came from outside ─► replay.py: the same again, without a client

`python -m broker_core.serve` is the command; see docs/clients/.
"""
