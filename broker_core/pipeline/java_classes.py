"""Where Java finds Spark's classes ready to use: an archive that it maps, instead of 280 jars that it reads,
checks and links at each start.

    jars ─► classes that a study loads, listed ─► java -Xshare:dump ─► var/java/<what it is good for>.jsa ─► -XX:SharedArchiveFile

An archive is good for one Java and one Spark in their places; Java itself checks that, and does without one
that does not fit. `manage.py prepare_studies` makes it (dashboard/studies/preparation.py).

Source: Java 17, "Class Data Sharing" (java(1), -XX:SharedArchiveFile, -XX:SharedClassListFile, -Xshare).
"""

from hashlib import sha256
from pathlib import Path

import pyspark

from broker_core.pipeline.java import Java

SUFFIX = ".jsa"
QUIET = "-Xlog:cds*=off"
"""An archive that does not fit is no concern of whoever runs a study."""


def archive_path(folder: Path, java: Java) -> Path:
    """The archive of this Java for this Spark, whether it is there or not."""
    said = [
        str(java.home.resolve()),
        (java.home / "release").read_text(),
        pyspark.__version__,
        str(Path(pyspark.__file__).resolve().parent),
    ]
    return folder / (sha256("\n".join(said).encode()).hexdigest()[:16] + SUFFIX)


def archive_options(folder: Path | None, java: Java) -> list[str]:
    """What Java is started with: the archive, if there is one."""
    if folder is None or not (archive := archive_path(folder, java)).is_file():
        return []
    return [f"-XX:SharedArchiveFile={archive}", QUIET]
