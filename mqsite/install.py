"""Make .venv hold exactly what the lock says and this checkout itself, convert the flights, begin to prepare studies: `python3 -I
mqsite/install.py [--dev]`.

The checkout is installed as its pyproject.toml says, editable: `highwater` is a command and a name to import.

Run by whatever Python the machine has, so it uses the standard library alone and no syntax newer than Python
3.6; an unfit Python gets one sentence. Uses uv where it is installed (seconds), else venv and pip; both check
every hash of the lock.
"""

import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
OLDEST, FIRST_UNTRIED = (3, 11), (3, 13)


def main(arguments):
    """Install what is missing or stale. Returns the exit code."""
    if not OLDEST <= sys.version_info[:2] < FIRST_UNTRIED:
        print(
            "Highwater needs Python 3.11 or 3.12; {} is {}.{}. Install one, or name it: make "
            "PYTHON=/path/to/python3.11".format(sys.executable, *sys.version_info[:2]),
            file=sys.stderr,
        )
        return 1
    name = "requirements-dev.lock" if "--dev" in arguments else "requirements.lock"
    if is_fresh(name):
        if not has_classes():
            prepare_studies()
        return 0
    lock = os.path.join(ROOT, name)
    print(f"Installing {name} into {VENV}: once, and this may take some minutes ...", flush=True)
    failed = (with_uv(lock) if shutil.which("uv") else with_pip(lock)) or checkout()
    if failed:
        print(failed, file=sys.stderr)
        return 1
    if subprocess.call([PYTHON, "-m", "broker_core.lab.workload.flights_table"], cwd=ROOT) != 0:
        return 1
    stamp(name)
    prepare_studies()
    return 0


def checkout():
    """Install this tree, editable, with the setuptools that the lock holds. Returns None, or the sentence why not."""
    with_which = (
        ["uv", "pip", "install", "--python", PYTHON]
        if shutil.which("uv")
        else [PYTHON, "-m", "pip", "install"]
    )
    command = [*with_which, "--quiet", "--no-deps", "--no-build-isolation", "--editable", ROOT]
    return None if subprocess.call(command) == 0 else f"{ROOT} could not be installed into {VENV}; see above."


def has_classes():
    """Whether Spark's classes were ever made ready here."""
    folder = os.path.join(ROOT, "var", "java")
    return os.path.isdir(folder) and any(file.endswith(".jsa") for file in os.listdir(folder))


def prepare_studies():
    """Have Spark's classes and the kernels made ready, if they are not, beside whatever comes next: it takes
    a minute, and what comes does not need it. var/prepare.log says how it went."""
    with open(os.path.join(ROOT, "var", "prepare.log"), "wb") as log:
        command = ["nice", "-n", "19", PYTHON, "manage.py", "prepare_studies"]
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def wanted(name):
    """The stamp of a lock: its content, the Python it was installed for, and what is installed of this tree."""
    content = hashlib.sha256()
    for part in (name, "pyproject.toml"):
        with open(os.path.join(ROOT, part), "rb") as file:
            content.update(file.read())
    return f"{sys.version_info[0]}.{sys.version_info[1]} {content.hexdigest()}"


def is_fresh(name):
    """Whether .venv was made from this lock. The development lock holds all of the other one."""
    if not os.path.exists(PYTHON) or not os.path.exists(os.path.join(ROOT, "var", "flights", "tables.json")):
        return False
    stamps = {}
    for lock in {name, "requirements-dev.lock"}:
        try:
            with open(os.path.join(VENV, lock + ".stamp")) as file:
                stamps[lock] = file.read()
        except OSError:
            continue
    if stamps.get(name) == wanted(name):
        return True
    return stamps.get("requirements-dev.lock") == wanted("requirements-dev.lock")


def stamp(name):
    """Say what .venv was made from. It holds that lock and nothing else now."""
    for lock in ("requirements.lock", "requirements-dev.lock"):
        path = os.path.join(VENV, lock + ".stamp")
        if os.path.exists(path):
            os.remove(path)
    with open(os.path.join(VENV, name + ".stamp"), "w") as file:
        file.write(wanted(name))


def with_uv(lock):
    """Install with uv. Returns None, or the sentence why not."""
    if (
        not has_right_python()
        and subprocess.call(["uv", "venv", "--quiet", "--clear", "--python", sys.executable, VENV]) != 0
    ):
        return f"uv could not make {VENV}."
    command = [
        "uv",
        "pip",
        "sync",
        "--quiet",
        "--require-hashes",
        "--python",
        PYTHON,
        "--compile-bytecode",
        lock,
    ]
    return None if subprocess.call(command) == 0 else f"uv could not install {lock}; see above."


def with_pip(lock):
    """Install with venv and pip. Returns None, or the sentence why not."""
    try:
        import ensurepip  # noqa: F401  (Debian ships venv without it unless python3-venv is installed)
        import venv
    except ImportError:
        return "This Python has no venv module; on Debian or Ubuntu: apt-get install python{}.{}-venv".format(
            *sys.version_info[:2]
        )
    if not has_right_python() or subprocess.call(
        [PYTHON, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ):
        try:
            venv.EnvBuilder(with_pip=True, clear=True, symlinks=True).create(VENV)
        except (OSError, subprocess.CalledProcessError) as error:
            return f"{VENV} could not be made: {error}"
    command = [
        PYTHON,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
        "-r",
        lock,
    ]
    return None if subprocess.call(command) == 0 else f"pip could not install {lock}; see above."


def has_right_python():
    """Whether .venv has a Python of this version that runs."""
    show = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        shown = subprocess.check_output([PYTHON, "-c", show], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return False
    return shown.decode().strip() == "{}.{}".format(*sys.version_info[:2])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
