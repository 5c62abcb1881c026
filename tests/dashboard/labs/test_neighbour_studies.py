"""Whatever goes wrong in one live study ends that study alone."""

from typing import Any

import pytest
from django.utils import timezone

from dashboard.leases import wall_ms
from dashboard.models import Study
from dashboard.studies import live, watch
from tests.dashboard.labs.neighbours import raising
from tests.dashboard.studies import FakeEngine

pytestmark = pytest.mark.django_db


# -- studies: the same of what runs beside one another there -------------------------------------------------


class Query:
    """A stream that goes on."""

    isActive = True
    is_counting = False

    def stop(self) -> None: ...


def running_study() -> Study:
    request = {"source": {"kind": "lab", "lab": "any"}}
    return Study.objects.create(
        live=True,
        request=request,
        owner_hash="x",
        state=Study.State.RUNNING,
        started_at=timezone.now(),
        lease_owner="me",
        lease_until_ms=wall_ms() + 60_000,
        epoch=1,
    )


def test_a_live_study_that_something_is_wrong_with_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    broken, sound = running_study(), running_study()
    raising(
        monkeypatch,
        live,
        "_look_at_lab",
        lambda live_study: live_study.study.pk == broken.pk,
        OSError(28, "No space left on device"),
    )
    studies = live.LiveStudies("me")
    studies.running = {study.pk: live.LiveStudy(study, query=Query()) for study in (broken, sound)}
    assert studies.turn(FakeEngine())
    states = {study.pk: study.state for study in Study.objects.all()}
    assert states == {broken.pk: Study.State.FAILED, sound.pk: Study.State.RUNNING} and list(
        studies.running
    ) == [sound.pk]
    assert Study.objects.get(pk=sound.pk).progress["stage"] == "no_window"


def test_a_study_that_cannot_be_told_leaves_the_other_watchers_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, sound = running_study(), running_study()
    real = watch.selectors.study_message

    def message(*, study: Study) -> Any:
        if study.pk == broken.pk:
            raise KeyError("stage")
        return real(study=study)

    monkeypatch.setattr(watch.selectors, "study_message", message)
    assert list(watch._read({broken.pk: 0, sound.pk: 0}, seen=False)) == [sound.pk]
