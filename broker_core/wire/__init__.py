"""Protocols as bytes, without a socket: a codec for each that takes what came and gives what is to be sent (`amqp/`); and the
server that real clients come to, in a world (`open_server.py`), with what comes to it (`acts.py`) and its `faults/`."""
