"""Protocols as bytes, without a socket: a codec for each that takes what came and gives what is to be sent."""
