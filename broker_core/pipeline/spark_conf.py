"""Settings that a person gives Spark, `key=value` each, as spark-submit's `--conf` takes them: credentials of a
storage, memory of the executors.

Source: Spark 4.3 SparkSubmitArguments, which hands on what begins with `spark.`.
"""

import re
import shlex
from collections.abc import Sequence

from broker_core.errors import CommandError

EXAMPLE = "spark.executor.memory=4g"
_SETTING = re.compile(r"(spark\.[\w.-]*[\w-])=(.*)", re.ASCII | re.DOTALL)
_SAID_ELSEWHERE = {
    "spark.master": "SPARK_MASTER",
    "spark.remote": "SPARK_REMOTE",
    "spark.driver.memory": "SPARK_DRIVER_MEMORY",
}


def conf_settings(texts: Sequence[str], field: str) -> dict[str, str]:
    """Setting -> value. Raises CommandError at `field` for one that is no `spark.name=value`, comes twice, or is said in
    a variable of its own.

    >>> conf_settings(["spark.hadoop.fs.s3a.endpoint=http://store:9000"], "--conf")
    {'spark.hadoop.fs.s3a.endpoint': 'http://store:9000'}
    """
    settings: dict[str, str] = {}
    for text in texts:
        found = _SETTING.fullmatch(text)
        if found is None:
            # What stands behind the sign may be a secret.
            raise CommandError(
                field, "{setting} is no setting of Spark; write {example}",
                setting=text.partition("=")[0][:100] or "-", example=EXAMPLE,
            )  # fmt: skip
        name, value = found.groups()
        if name in settings:
            raise CommandError(field, "{setting} is given twice", setting=name)
        if name in _SAID_ELSEWHERE:
            raise CommandError(
                field, "{setting} is said by {variable}", setting=name, variable=_SAID_ELSEWHERE[name]
            )
        settings[name] = value
    return settings


def conf_words(text: str, field: str) -> list[str]:
    """The settings in one text, between blanks; one with blanks in it stands in quotes, as in a shell.

    >>> conf_words('spark.a=1 "spark.b=2 3"', "SPARK_CONF")
    ['spark.a=1', 'spark.b=2 3']
    """
    try:
        return shlex.split(text)
    except ValueError:
        raise CommandError(field, "a quote is not closed") from None
