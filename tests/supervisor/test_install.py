"""When `make run` installs again and when it does not; what it says where a machine lacks something. Nothing
is installed here."""

import subprocess
import sys

import pytest

from mqsite import install

BOTH = ("requirements.lock", "requirements-dev.lock")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A checkout with two locks and an environment that was never made."""
    for name in BOTH:
        (tmp_path / name).write_text(f"{name} 1\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "var").mkdir()
    monkeypatch.setattr(install, "ROOT", str(tmp_path))
    monkeypatch.setattr(install, "VENV", str(tmp_path / ".venv"))
    monkeypatch.setattr(install, "PYTHON", str(tmp_path / ".venv" / "bin" / "python"))
    return tmp_path


@pytest.fixture
def installed(root):
    """The same, with a Python and the flights."""
    for path in (root / ".venv" / "bin" / "python", root / "var" / "flights" / "tables.json"):
        path.parent.mkdir(parents=True)
        path.write_text("")
    return root


def fresh():
    return [install.is_fresh(name) for name in BOTH]


def test_what_was_installed_from_this_lock_is_not_installed_again(installed):
    assert fresh() == [False, False]
    install.stamp("requirements.lock")
    assert fresh() == [True, False]


def test_the_development_lock_holds_all_of_the_other_one(installed):
    install.stamp("requirements-dev.lock")
    assert fresh() == [True, True]
    (installed / "requirements-dev.lock").write_text("requirements-dev.lock 2\n")
    assert fresh() == [False, False]


def test_a_changed_lock_is_installed_again(installed):
    install.stamp("requirements.lock")
    (installed / "requirements.lock").write_text("requirements.lock 2\n")
    assert fresh() == [False, False]


def test_a_changed_project_is_installed_again(installed):
    install.stamp("requirements.lock")
    (installed / "pyproject.toml").write_text("[project.scripts]\n")
    assert fresh() == [False, False]


def test_an_environment_holds_the_lock_it_was_made_from_last_and_no_other(installed):
    install.stamp("requirements-dev.lock")
    install.stamp("requirements.lock")
    assert fresh() == [True, False]


def test_another_python_makes_the_environment_stale(installed, monkeypatch):
    install.stamp("requirements.lock")
    monkeypatch.setattr(install.sys, "version_info", (3, 99, 0))
    assert install.wanted("requirements.lock").startswith("3.99 ") and fresh() == [False, False]


@pytest.mark.parametrize("gone", [".venv/bin/python", "var/flights/tables.json"])
def test_an_environment_without_its_python_or_the_flights_is_not_fresh(installed, gone):
    install.stamp("requirements.lock")
    (installed / gone).unlink()
    assert fresh() == [False, False]


def test_classes_are_there_when_one_archive_is(root):
    assert not install.has_classes()
    (root / "var" / "java").mkdir()
    (root / "var" / "java" / "highwater.jar").write_text("")
    assert not install.has_classes()
    (root / "var" / "java" / "spark.jsa").write_text("")
    assert install.has_classes()


class Machine:
    """What is installed on it, and what the installer ran there. fails: a word of the command that does not
    work."""

    def __init__(self, monkeypatch, *, uv, fails="nothing"):
        self.ran, self.fails = [], fails
        monkeypatch.setattr(
            install.shutil, "which", lambda name: "/usr/bin/uv" if uv and name == "uv" else None
        )
        monkeypatch.setattr(install.subprocess, "call", self._call)
        monkeypatch.setattr(install.subprocess, "Popen", lambda command, **_rest: self.ran.append(command))
        monkeypatch.setattr(install, "has_right_python", lambda: True)

    def _call(self, command, **_rest):
        self.ran.append(command)
        return 1 if self.fails in command else 0

    @property
    def words(self):
        return [" ".join(command[-3:]) for command in self.ran]


def test_with_uv_the_lock_is_synchronised_with_its_hashes_and_studies_are_prepared_beside(
    installed, monkeypatch
):
    machine = Machine(monkeypatch, uv=True)
    assert install.main(["--dev"]) == 0
    sync, checkout, flights, prepare = machine.ran
    assert (
        sync[:3] == ["uv", "pip", "sync"]
        and "--require-hashes" in sync
        and sync[-1] == str(installed / "requirements-dev.lock")
    )
    assert checkout[:3] == ["uv", "pip", "install"] and checkout[-2:] == ["--editable", str(installed)]
    assert (
        flights[1:] == ["-m", "broker_core.lab.workload.flights_table"]
        and prepare[-1] == "prepare_studies"
        and prepare[0] == "nice"
    )
    assert fresh() == [True, True]


def test_without_uv_pip_installs_the_lock_with_its_hashes_and_nothing_else(installed, monkeypatch):
    machine = Machine(monkeypatch, uv=False)
    assert install.main([]) == 0
    command, checkout = (command for command in machine.ran if "install" in command)
    assert command[:3] == [install.PYTHON, "-m", "pip"] and {"--no-deps", "--require-hashes"} <= set(command)
    assert command[-2:] == ["-r", str(installed / "requirements.lock")]
    assert checkout[:4] == [install.PYTHON, "-m", "pip", "install"] and checkout[-1] == str(installed)
    assert {"--no-deps", "--no-build-isolation"} <= set(checkout)


@pytest.mark.parametrize(
    ("uv", "fails", "said"),
    [
        (True, "sync", "uv could not install"),
        (False, "install", "pip could not install"),
        (True, "--editable", "{root} could not be installed"),
        (False, "--editable", "{root} could not be installed"),
    ],
)
def test_what_cannot_be_installed_is_told_and_not_taken_for_installed(
    installed, monkeypatch, capsys, uv, fails, said
):
    machine = Machine(monkeypatch, uv=uv, fails=fails)
    assert install.main([]) == 1
    assert capsys.readouterr().err.startswith(said.format(root=installed))
    assert fresh() == [False, False] and not [
        words for words in machine.words if "flights" in words or "prepare" in words
    ]


def test_without_the_flights_nothing_is_taken_for_installed(installed, monkeypatch):
    Machine(monkeypatch, uv=True, fails="broker_core.lab.workload.flights_table")
    assert install.main([]) == 1 and fresh() == [False, False]


@pytest.mark.parametrize("has_classes", [False, True])
def test_what_is_fresh_costs_nothing_but_classes_that_were_never_made(installed, monkeypatch, has_classes):
    install.stamp("requirements.lock")
    machine = Machine(monkeypatch, uv=True)
    monkeypatch.setattr(install, "has_classes", lambda: has_classes)
    assert install.main([]) == 0
    assert len(machine.ran) == (0 if has_classes else 1)


@pytest.mark.parametrize(
    ("version", "is_fit"), [((3, 10, 14), False), ((3, 11, 0), True), ((3, 12, 9), True), ((3, 13, 0), False)]
)
def test_an_unfit_python_installs_nothing(installed, monkeypatch, capsys, version, is_fit):
    machine = Machine(monkeypatch, uv=True)
    monkeypatch.setattr(install.sys, "version_info", version)
    assert install.main([]) == (0 if is_fit else 1)
    assert bool(machine.ran) == is_fit
    assert ("needs Python 3.11 or 3.12" in capsys.readouterr().err) != is_fit


def test_a_python_that_does_not_run_or_is_another_version_is_not_the_right_one(root, monkeypatch):
    assert not install.has_right_python()
    own = "{}.{}\n".format(*sys.version_info[:2]).encode()
    for shown, is_right in ((own, True), (b"2.7\n", False)):
        monkeypatch.setattr(
            install.subprocess, "check_output", lambda *_arguments, shown=shown, **_rest: shown
        )
        assert install.has_right_python() == is_right
    monkeypatch.setattr(
        install.subprocess,
        "check_output",
        lambda command, **_rest: (_ for _ in ()).throw(subprocess.CalledProcessError(1, command)),
    )
    assert not install.has_right_python()


def test_a_first_start_says_what_takes_so_long(root, monkeypatch, capsys):
    monkeypatch.setattr(install, "with_uv", lambda lock: "no network")
    monkeypatch.setattr(install, "with_pip", lambda lock: "no network")
    assert install.main([]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("Installing requirements.lock into ") and said.err == "no network\n"


def test_a_start_that_installs_nothing_says_nothing(installed, monkeypatch, capsys):
    install.stamp("requirements.lock")
    monkeypatch.setattr(install, "has_classes", lambda: True)
    assert install.main([]) == 0
    assert capsys.readouterr() == ("", "")
