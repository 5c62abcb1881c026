"""What a Spark master may be called: told before Java is started, which would say it in forty lines.

Source: Spark 4.3 SparkMasterRegex, SparkContext.createTaskScheduler.
"""

import re

from broker_core.pipeline.java import SparkUnavailable

EXAMPLES = (
    "local, local[4], local[*], local-cluster[2,1,1024], spark://host:7077, yarn, k8s://https://host:443"
)
_CLUSTER = "spark://"
_N = r"\s*[1-9]\d*\s*"
_ADDRESS = r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}"
_MASTER = re.compile(
    rf"local|local\[({_N}|\*)(,{_N})?\]|local-cluster\[{_N},{_N},{_N}\]|spark://{_ADDRESS}(,{_ADDRESS})*|yarn|k8s://[^\s/,]\S*",
    re.ASCII,
)


def master_check(master: str) -> None:
    """Raises SparkUnavailable for what Spark does not take for a master."""
    if _MASTER.fullmatch(master) is None:
        raise SparkUnavailable(
            "{master} is not a Spark master; use one of {examples}", master=master[:200], examples=EXAMPLES
        )


def master_addresses(master: str) -> list[tuple[str, int]]:
    """(host, port) of each master of a cluster of Spark's own; [] for any other.

    >>> master_addresses("spark://[::1]:7077,b:7078")
    [('::1', 7077), ('b', 7078)]
    """
    if not master.startswith(_CLUSTER):
        return []
    parts = [address.rpartition(":") for address in master.removeprefix(_CLUSTER).split(",")]
    return [(host.strip("[]"), int(port)) for host, _, port in parts]


def no_master(master: str) -> SparkUnavailable:
    """What is said where nobody answers as a master."""
    return SparkUnavailable(
        "no Spark master responds at {master}: start it, or correct SPARK_MASTER", master=master
    )
