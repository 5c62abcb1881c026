"""Two labs of one shard, and ways in which one of them goes wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from dashboard.labs import selectors
from dashboard.models import Lab
from tests.dashboard.patching import follow
from tests.dashboard.world import World


class Two:
    """A lab that something is about to go wrong in, and its neighbour in the same shard."""

    def __init__(self, world: World) -> None:
        self.world, self.broken, self.sound = world, world.open(), world.open()
        world.run(0.5)
        self.driver, self.neighbour = world.shard.drivers[self.broken.pk], world.shard.drivers[self.sound.pk]

    def assert_neighbour_goes_on(self) -> None:
        """A command is carried out in the very next turn, and the beat of frames is unchanged: nothing was
        opened again."""
        receipt = self.world.order(self.sound, "join")
        before = len(self.world.messages(self.sound))
        self.world.shard.turn()
        assert (
            selectors.command_get(lab_id=self.sound.pk, command_id=receipt["command_id"])["state"]
            == "applied"
        )
        self.world.run(1)
        assert self.world.shard.drivers[self.sound.pk] is self.neighbour and self.neighbour.epoch == 1
        assert len(self.world.messages(self.sound)) - before >= 8

    def assert_stopped(self, reason: str) -> None:
        """Stopped for good, the reason on its page and in its feed; every command it had accepted is still
        there."""
        self.broken.refresh_from_db(fields=["status", "failed_reason"])
        assert self.broken.status == Lab.Status.FAILED and reason in self.broken.failed_reason
        assert self.broken.pk not in self.world.shard.drivers
        assert reason in follow(self.world.messages(self.broken))["feed"]["failed"]
        stored = selectors.lab_snapshot(lab_id=self.broken.pk)
        assert stored is not None and reason in stored["view"]["feed"]["failed"], (
            "who comes later is told, too"
        )


def raising(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, is_meant: Callable[..., bool], error: Exception
) -> None:
    """Let `owner.name` raise when it is called for the broken lab."""
    real = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if is_meant(*args):
            raise error
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)
