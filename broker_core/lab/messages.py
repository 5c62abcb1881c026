"""Every message of a lab is a thing: an id, a key, a payload, properties, and where it came from.

    id          0 ............ 2**40 ..................... 2**41 ..........................
                the workload's  those that a person sent   programs' own, 2**40 for each

Brokers hold ids, at positions of their own; whoever wants to know more of a message looks here. What follows from
an id is worked out and never stored: a record of the workload is its index, a program's message its place among
those that the program sent. Stored are the messages that people sent.

A key has a code, one whole number for each different key: the workload's (`Workload.key_code`), from 2**40 on
those of keys that only people's messages have, and from 2**41 on those of programs' messages. A program's messages
have its topic's few keys in turn, which are the same for every program: two instances of one application write
the same accounts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from broker_core.lab.workload.base import Workload
from broker_core.lab.workload.live_keys import NO_KEY

MessageId = int

IDS_EACH = 1 << 40
"""How many ids the workload, people and each program have."""
FIRST_SENT = IDS_EACH
FIRST_OF_PROGRAMS = 2 * IDS_EACH
FIRST_SENT_KEY = 1 << 40
FIRST_PROGRAM_KEY = 1 << 41
PROGRAM_KEYS = tuple(f"account-{number}" for number in range(1, 7))
"""Of programs' messages, in turn."""


class Origin(NamedTuple):
    """Where a message came from."""

    kind: str  # "workload", "person" or "program"
    place: int  # index of the record, position of the command, place among the program's messages
    program: int = 0  # its number, from 1; 0 for others


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that a person sent."""

    position: int  # of the command, which sends one
    key: str | None
    payload: str | None = ""  # None: it has no value, so to a compacted Kafka topic it is its key's tombstone
    properties: Mapping[str, str] = field(default_factory=dict)


def first_of_program(number: int) -> MessageId:
    """The id of the first message of a program with this number, from 1.

    >>> origin(first_of_program(3) + 8)
    Origin(kind='program', place=8, program=3)
    """
    return FIRST_OF_PROGRAMS + (number - 1) * IDS_EACH


def origin(message: MessageId) -> Origin:
    """
    >>> origin(7)
    Origin(kind='workload', place=7, program=0)
    """
    if message < FIRST_SENT:
        return Origin("workload", message)
    if message < FIRST_OF_PROGRAMS:
        return Origin("person", message - FIRST_SENT)
    number, place = divmod(message - FIRST_OF_PROGRAMS, IDS_EACH)
    return Origin("program", place, number + 1)


class Messages:
    """The messages of a lab. sent: those of people, by the position of their command."""

    def __init__(self, workload: Workload, sent: dict[int, Sent] | None = None) -> None:
        self.workload = workload
        self.sent = {} if sent is None else sent
        self._sent_keys: dict[str, int] = {}
        self._codes_of: Callable[[Sequence[int]], list[int]] = workload.codes_of

    def send(self, sent: Sent) -> MessageId:
        """A person sends a message: its id, the same when the lab goes through its history again."""
        self.sent[sent.position] = sent
        return FIRST_SENT + sent.position

    def by_hand(self, message: MessageId) -> int:
        """Of a message that a person sent: which one it is of those, from 1; 0 for any other."""
        came = origin(message)
        return sum(position <= came.place for position in self.sent) if came.kind == "person" else 0

    def key_code(self, message: MessageId) -> int:
        """NO_KEY for a message without a key."""
        return self.workload.key_code(message) if message < FIRST_SENT else self._own_code(message)

    def codes_of(self, messages: Sequence[MessageId]) -> list[int]:
        """The key codes of these."""
        if messages and max(messages) >= FIRST_SENT:
            return [self.key_code(message) for message in messages]
        return self._codes_of(messages)

    def key_bytes(self, code: int) -> bytes:
        """The key with this code, as it is hashed."""
        return self.key(code).encode() if code >= FIRST_SENT_KEY else self.workload.key_bytes(code)

    def key(self, code: int) -> str:
        """The key with this code, as it is shown."""
        if code < FIRST_SENT_KEY:
            return self.workload.key(code)
        if code >= FIRST_PROGRAM_KEY:
            return PROGRAM_KEYS[code - FIRST_PROGRAM_KEY]
        key = self.sent[code - FIRST_SENT_KEY].key
        assert key is not None, "a code is given to keys alone"
        return key

    def payload(self, message: MessageId) -> str:
        """What it carries: a record of the workload as JSON, a person's text, nothing of a program's."""
        if message < FIRST_SENT:
            return self.workload.payload(message)
        sent = self.sent.get(message - FIRST_SENT)
        return "" if sent is None or sent.payload is None else sent.payload

    def has_value(self, message: MessageId) -> bool:
        """False for one that a person sent without any, which is not the same as an empty one."""
        sent = self.sent.get(message - FIRST_SENT)
        return sent is None or sent.payload is not None

    def size(self, message: MessageId) -> int:
        """Of the payload, in bytes."""
        return self.workload.size(message) if message < FIRST_SENT else len(self.payload(message).encode())

    def properties(self, message: MessageId) -> Mapping[str, str]:
        """Those that its sender gave it."""
        sent = self.sent.get(message - FIRST_SENT)
        return {} if sent is None else sent.properties

    def _own_code(self, message: MessageId) -> int:
        """Of a message that is not the workload's. The code of a key that only people use is that of the first
        message that had it."""
        key = self._own_key(message)
        if key is None:
            return NO_KEY
        known = self.workload.code_of(key)
        if known is not None:
            return known
        if key in PROGRAM_KEYS:
            return FIRST_PROGRAM_KEY + PROGRAM_KEYS.index(key)
        return FIRST_SENT_KEY + min(each.position for each in self.sent.values() if each.key == key)

    def _own_key(self, message: MessageId) -> str | None:
        came = origin(message)
        if came.kind == "program":
            return PROGRAM_KEYS[came.place % len(PROGRAM_KEYS)]
        sent = self.sent.get(came.place)
        return None if sent is None else sent.key
