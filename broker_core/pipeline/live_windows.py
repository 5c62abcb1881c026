"""From groups to windows: the partitions of a window together, and the same again after a restart.

Spark's update mode tells only the groups that changed. A window needs all its partitions (skew is the largest
against the mean), so the open windows are kept beside Spark's checkpoint, one small file a batch:

    state of batch n = state of batch n - 1, then the groups of batch n            a batch that is done again gives the same
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from broker_core.events import Json
from broker_core.kafka.log.checkpoints import REPLICATION, read_offsets
from broker_core.lab.kafka_log.read_only import ReadOnlyFolder

STATES_KEPT = 10

Offsets = dict[tuple[str, int], int]


class WindowBook:
    """The open windows of a live study. folder: where states are kept. window_us: their length. kept_us: how
    long a window can still change."""

    def __init__(self, folder: Path, window_us: int, kept_us: int) -> None:
        self.folder = folder
        self.window_us = window_us
        self.kept_us = kept_us
        folder.mkdir(parents=True, exist_ok=True)

    def merge(self, batch: int, groups: list[Json], late: tuple[int, int], marks: Offsets) -> list[Json]:
        """Take in the groups of a batch; give the windows that have changed, by start and lane.

        groups: start_us, lane, partition (-1: the lane as a whole), records, lag, skew, hw_lag, stopped_us,
        end_offset, and of a log damaged.
        late: rows that came too late in a batch, and which batch that was. marks: a log's high watermarks as
        they are now.
        """
        state = self._state_before(batch)
        if late[1] > state["late_batch"]:
            state["late"], state["late_batch"] = state["late"] + late[0], late[1]
        changed: set[tuple[int, str]] = set()
        for group in groups:
            window = state["windows"].setdefault(f"{group['start_us']}/{group['lane']}", {})
            state["damaged"] += group.get("damaged", 0) - window.get(str(group["partition"]), {}).get(
                "damaged", 0
            )
            window[str(group["partition"])] = group
            changed.add((group["start_us"], group["lane"]))
        rows = [self._row(start, lane, state, marks) for start, lane in sorted(changed)]
        newest = max((_start(name) for name in state["windows"]), default=0)
        state["windows"] = {
            name: window for name, window in state["windows"].items() if _start(name) >= newest - self.kept_us
        }
        self._keep(batch, state)
        return rows

    def _row(self, start: int, lane: str, state: Json, marks: Offsets) -> Json:
        groups: list[Json] = list(state["windows"][f"{start}/{lane}"].values())
        whole = groups[0] if groups[0]["partition"] < 0 else None
        records = sum(group["records"] or 0 for group in groups)
        row: Json = {
            "start_us": start,
            "end_us": start + self.window_us,
            "lane": lane,
            "throughput": records * 1_000_000 / self.window_us,
            "lag": None,
            "skew": None,
            "hw_lag": None,
            "rebalance_cost": None,
            "late": state["late"],
            "damaged": state["damaged"],
        }
        if whole is not None:
            return row | {
                "lag": whole["lag"], "skew": whole["skew"], "hw_lag": whole["hw_lag"],
                "rebalance_cost": (whole["stopped_us"] or 0) / 1_000_000,
            }  # fmt: skip
        known = max(len(groups), sum(1 for topic, _ in marks if topic == lane))
        if records:
            row["skew"] = max(group["records"] for group in groups) * known / records
        behind = [
            max(0, group["end_offset"] - marks[lane, group["partition"]])
            for group in groups
            if (lane, group["partition"]) in marks
        ]
        return row | {"hw_lag": sum(behind) if behind else None}

    def _state_before(self, batch: int) -> dict[str, Any]:
        for number in sorted(self._numbers(), reverse=True):
            if number < batch:
                try:
                    state: dict[str, Any] = json.loads(self._file(number).read_text())
                except (OSError, ValueError):
                    # A power cut may leave a state half written: the one before it lacks a batch's groups,
                    # and Spark tells them again as soon as they change.
                    continue
                return state
        return {"windows": {}, "late": 0, "late_batch": -1, "damaged": 0}

    def _keep(self, batch: int, state: Json) -> None:
        beside = self.folder / f".{batch}.json"
        beside.write_text(json.dumps(state, separators=(",", ":")))
        beside.replace(self._file(batch))
        for number in sorted(self._numbers())[:-STATES_KEPT]:
            self._file(number).unlink(missing_ok=True)

    def _numbers(self) -> list[int]:
        return [int(file.stem) for file in self.folder.glob("[0-9]*.json")]

    def _file(self, batch: int) -> Path:
        return self.folder / f"{batch}.json"


def high_watermarks(path: Path) -> Offsets:
    """The high watermarks of a log folder, (topic, partition) -> offset; of a partition's folder those of the
    one above. {}: it tells none."""
    for folder in (path, path.parent):
        known = ReadOnlyFolder(folder)
        if REPLICATION in known.names():
            return read_offsets(known, REPLICATION)
    return {}


def _start(name: str) -> int:
    return int(name.partition("/")[0])
