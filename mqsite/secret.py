"""The secret key: from the environment, else a file in the run folder that only its owner can read."""

import os
import secrets
from pathlib import Path


def secret_key(run_dir: Path) -> str:
    """Return HIGHWATER_SECRET_KEY, or the key in <run_dir>/secret_key, made on first use with mode 600.

    Two processes that start at once agree: the file is written aside and linked into place, which only one of
    them can do.
    """
    if given := os.environ.get("HIGHWATER_SECRET_KEY"):
        return given
    path = run_dir / "secret_key"
    if not path.exists():
        run_dir.mkdir(parents=True, exist_ok=True)
        draft = run_dir / f".secret_key.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # the other process was first; its key is the one
        finally:
            draft.unlink()
    return path.read_text().strip()
