"""The command line `manage.py dump_log`."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from broker_core.kafka.log.disk_storage import DiskFolder
from broker_core.kafka.log.partition_log import PartitionLog


def test_dump_log_prints_lines_or_json(tmp_path: Path) -> None:
    log = PartitionLog.open(DiskFolder(tmp_path / "flights-0"), now_ms=0)
    log.append_pairs([(b"N342NW", b"DL 1919")], now_ms=1_357_000_000_000)
    log.close(0)
    out = io.StringIO()
    call_command("dump_log", str(tmp_path / "flights-0"), deep=True, stdout=out)
    assert "| offset: 0 CreateTime: 1357000000000 keySize: 6 valueSize: 7" in out.getvalue()
    out = io.StringIO()
    call_command("dump_log", str(tmp_path / "flights-0" / "00000000000000000000.log"), json=True, stdout=out)
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [row["kind"] for row in rows] == ["file", "batch"]
    assert rows[1]["isvalid"] is True


def test_a_path_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("dump_log", str(tmp_path / "nothing"))
