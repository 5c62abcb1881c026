"""A run again, from its journal, without a client: the same acts at the same times come to the same answers, by their
hashes, or the first turn that does not is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from broker_core.errors import CommandError
from broker_core.lab.rules import RULES_VERSION
from broker_core.serve.journal import Began, Came, Entry, Full, Left, digest_of, entries_of
from broker_core.serve.run import Run
from broker_core.wire.amqp.remote import Arrived
from broker_core.wire.amqp.session import Session


@dataclass(slots=True)
class Replayed:
    """run: as it was at the last entry. acts, answered: how many acts, and turns with the same answers. differs: the first
    turn with others, in words; None: there is none. full_from_us: from when on nothing was kept."""

    run: Run
    acts: int = 0
    answered: int = 0
    differs: str | None = None
    full_from_us: int | None = None


def replay(path: Path) -> Replayed:
    """Raises CommandError for a file that is no journal, or one of other rules."""
    entries = entries_of(path)
    began = beginning(entries)
    found = Replayed(Run(began.seed, began.began_us))
    turn = _Turn()
    for entry in entries:
        _step(found, turn, entry)
        if found.differs is not None:
            break
    return found


def beginning(entries: Iterator[Entry]) -> Began:
    """The first entry of a journal. Raises CommandError."""
    began = next(entries, None)
    if not isinstance(began, Began):
        raise CommandError("file", "is no run of Highwater: {why}", why="it has no beginning")
    if began.rules != RULES_VERSION:
        raise CommandError(
            "file", "was made under rules {made}; these are {now}", made=began.rules, now=RULES_VERSION
        )
    return began


class _Turn:
    """What came since answers left last. sessions: of each socket, to read its bytes again for people."""

    def __init__(self) -> None:
        self.sessions: dict[int, Session] = {}
        self.methods: list[str] = []

    def came(self, entry: Came) -> None:
        if isinstance(entry.act, Arrived):
            session = self.sessions.setdefault(entry.socket, Session())
            for method in session.receive(entry.act.data):
                self.methods.append(f"{type(method).__struct_config__.tag} of socket {entry.socket}")
        else:
            self.methods.append(f"{type(entry.act).__struct_config__.tag} of socket {entry.socket}")


def _step(found: Replayed, turn: _Turn, entry: Entry) -> None:
    run = found.run
    match entry:
        case Came(at_us, socket, act):
            run.advance(at_us)
            turn.came(entry)
            run.act(socket, act)
            found.acts += 1
        case Left(at_us, digest):
            run.advance(at_us)
            answers = [(number, parts) for number, parts, _ in run.outgoing()]
            if digest_of(answers) == digest:
                found.answered += 1
            else:
                what = turn.methods[0] if turn.methods else "nothing but time"
                found.differs = f"at {at_us / 1_000_000:.6f} s, after {what}, the answers are others"
            turn.methods.clear()
        case Full(at_us):
            found.full_from_us = at_us
        case Began():
            raise CommandError("file", "is no run of Highwater: {why}", why="it begins twice")
