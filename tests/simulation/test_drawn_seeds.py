"""The seeds of a run: drawn from the commit's id, so that each commit tries other lives, and a failure names
the one to repeat."""

from types import SimpleNamespace

import pytest

from tests.simulation import conftest, seeds


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEED", raising=False)
    monkeypatch.setenv("HIGHWATER_SEEDS", "40")


def at_commit(monkeypatch: pytest.MonkeyPatch, commit: str, code: int = 0) -> list[int]:
    """The seeds that a run at this commit would try."""
    answer = SimpleNamespace(returncode=code, stdout=f"{commit}\n")
    monkeypatch.setattr(seeds.subprocess, "run", lambda *_, **__: answer)
    seeds.first_seed.cache_clear()
    drawn = seeds.seeds()
    seeds.first_seed.cache_clear()
    return drawn


def test_a_commit_has_its_own_lives_and_the_same_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    one, again, other = (at_commit(monkeypatch, commit) for commit in ("5c21dac3", "5c21dac3", "5c21dac4"))
    assert one == again and len({*one}) == 40 and not {*one} & {*other}


def test_without_a_repository_they_begin_at_0(monkeypatch: pytest.MonkeyPatch) -> None:
    assert at_commit(monkeypatch, "", code=128) == [*range(40)]


def test_a_seed_that_once_failed_is_tried_each_time_and_dear_lives_are_fewer() -> None:
    assert seeds.seeds(found=[20111]) == [20111, *seeds.seeds()]
    assert seeds.seeds(count_max=3) == seeds.seeds()[:3]
    assert len(seeds.seeds(times=5)) == 5 * len(seeds.seeds())


def test_the_seed_that_was_asked_for_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEED", "7")
    assert seeds.seeds() == seeds.seeds(count_max=3, found=[20111]) == [7]


@pytest.mark.parametrize(("failed", "params", "said"), [
    (True, {"seed": 7}, [("to repeat it", "make seed SEED=7 TESTS=tests/simulation/test_seeds.py")]),
    (True, {"seed": 0}, [("to repeat it", "make seed SEED=0 TESTS=tests/simulation/test_seeds.py")]),
    (True, {"permits": 7}, []),
    (False, {"seed": 7}, []),
])  # fmt: skip
def test_a_life_that_fails_names_the_command_that_repeats_it(failed, params, said) -> None:
    nodeid = "tests/simulation/test_seeds.py::test_life[7]"
    item = SimpleNamespace(nodeid=nodeid, callspec=SimpleNamespace(params=params))
    hook = conftest.pytest_runtest_makereport(item)
    next(hook)
    with pytest.raises(StopIteration) as end:
        hook.send(SimpleNamespace(failed=failed, sections=[]))
    assert end.value.value.sections == said
