"""A broker for real clients: the one place of the core with sockets, threads and the wall clock.

    sockets, clock ─ server.py ─► run.py: a world, the journal of what came from outside ─► replay.py: the same again, without a client
                        ▲
    control.py: look, set faults, wait for conditions.py, reset ◄─ http_control.py, or running.py: a broker in a test's process ◄─ pytest_plugin.py

`python -m broker_core.serve` is the command; `import highwater` has the names for programs; see docs/clients/.
"""
