"""Messages that arrive at a dispatcher one by one, as its broker hands them over."""

from broker_core.pulsar.entry import Entry

LOW, HIGH = 100, 40_000
"""Hashes of two keys: with consumers a and b, in this order, auto-split gives the lower half to b and the
upper to a."""


def arrive(dispatcher, *hashes):
    """What is sent because of them, in order."""
    sent = []
    for hash32 in hashes:
        position = dispatcher.cursor.end
        dispatcher.entries[position] = Entry(hash32, position)
        sent += dispatcher.arrived(position, dispatcher.entries[position])
        dispatcher.check()
    return sent
