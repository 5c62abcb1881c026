"""What no library of ours reads is refused by name, with what to do, whatever it is called and wherever it stands."""

import shutil
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, orc

from broker_core.errors import CommandError
from broker_core.pipeline.sources import unpacked
from broker_core.pipeline.sources.kinds import refusal, sniff
from broker_core.pipeline.sources.spec import source_check

FILES = Path(__file__).parent / "files"


def arrow_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


@pytest.mark.parametrize(
    ("path", "said"),
    [("09/orders.xlsx", "is an Excel workbook: save it as CSV UTF-8"), ("09/orders.avro", "is an Avro file")],
)
def test_what_no_library_of_ours_reads_is_refused_by_name(path, said):
    assert sniff(FILES / path, path) is None
    assert refusal(FILES / path).startswith(said)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("write", "said"),
    [
        (orc.write_table, "is an ORC file: write it as Parquet"),
        (feather.write_feather, "is an Arrow or Feather file: write it as Parquet"),
        (arrow_stream, "is an Arrow or Feather file: write it as Parquet"),
    ],
)
def test_tables_of_other_formats_are_refused_by_name_whatever_they_are_called(tmp_path, kind, write, said):
    path = tmp_path / f"orders.{kind}"
    write(pa.table({"customer": ["alice", "bob"]}), path)
    assert sniff(path, path.name) is None and refusal(path) == said
    with pytest.raises(CommandError) as refused:
        source_check({"kind": kind, "path": str(path), "key": "customer"})
    assert (refused.value.field, refused.value.reason) == ("source.path", said)


def test_in_a_folder_every_file_of_another_format_is_refused_by_its_name(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text("customer\nalice\n")
    shutil.copy(FILES / "09/orders.xlsx", tmp_path / "9.csv")
    field, reason = refused_folder(tmp_path)
    assert (field, reason) == ("source.path", "9.csv is an Excel workbook: save it as CSV UTF-8")
    (tmp_path / "9.csv").unlink()
    shutil.copy(FILES / "09/orders.avro", tmp_path / "orders.avro")
    assert source_check({"kind": "csv", "path": str(tmp_path), "key": "customer"})["key"] == "customer"
    for number in range(3):
        (tmp_path / f"{number}.csv").unlink()
    assert refused_folder(tmp_path)[1].startswith("orders.avro is an Avro file: write it as Parquet")


def refused_folder(path):
    with pytest.raises(CommandError) as refused:
        source_check({"kind": "csv", "path": str(path), "key": "customer"})
    return refused.value.field, refused.value.reason


def test_text_that_begins_with_the_letters_of_orc_is_read(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text("ORC,weight\ngrom,7\n")
    assert sniff(path, path.name).kind == "csv" and refusal(path) is None


def test_an_archive_of_several_files_says_how_many(tmp_path):
    path = Path(shutil.make_archive(str(tmp_path / "both"), "zip", FILES / "12", "."))
    with pytest.raises(CommandError, match="the archive holds 3 files; a zip is read if it holds one"):
        source_check({"kind": "csv", "path": str(path), "key": "customer"})


def test_an_archive_of_many_files_is_refused_before_its_directory_is_in_memory(tmp_path, monkeypatch):
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(200):
            archive.writestr(f"{number}.csv", "customer\na\n")
    monkeypatch.setattr(unpacked, "DIRECTORY_BYTES_MAX", 4_096)
    assert sniff(path, path.name) is None
    with pytest.raises(CommandError, match="cannot be read: the archive holds too many files"):
        source_check({"kind": "csv", "path": str(path), "key": "customer"})
