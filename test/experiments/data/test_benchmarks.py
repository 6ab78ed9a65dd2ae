"""Benchmarks from packages: Platt's encoding of Adult, and R's tables, on made-up data."""

import bz2
import gzip
import hashlib
import lzma
import re
import sys
import zipfile
import zlib
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from icub_learning.errors import RecordingError
from icub_learning.experiments.data import benchmarks, fetching, r_packages, tables

ROW = "{age}, {work}, {weight}, HS-grad, {years}, Widowed, Sales, Wife, White, Male, {gain}, 0, {hours}, Cuba, {income}"


def test_adult_from_a_folder_from_a_wheel_and_as_published(tmp_path):
    rng = np.random.default_rng(0)
    ranges = {"age": (17, 90), "weight": (1e4, 1e6), "years": (1, 16), "hours": (1, 99), "gain": (0, 2)}
    words = {"work": ["Private", "State-gov", "?"], "income": [">50K", "<=50K"]}
    rows = [{name: rng.integers(*ends) for name, ends in ranges.items()}
            | {name: rng.choice(some) for name, some in words.items()} for _ in range(50)]  # fmt: skip
    (tmp_path / "adult.data").write_text("\n".join(ROW.format(**row) for row in rows) + "\n\n")
    (tmp_path / "adult.test").write_text("|1x3 Cross validator\n" + "".join(f"{ROW.format(**row)}.\n" for row in rows))
    found = benchmarks.adult(tmp_path)
    # Inputs: five for each of four numbers, two each for gains and losses, one for each category but "unknown".
    assert found.x.shape == (50, 4 * 5 + 2 * 2 + 2 + 7) and set(np.unique(found.x)) == {0.0, 1.0}
    np.testing.assert_array_equal(found.x, found.x_test)
    np.testing.assert_array_equal(found.y, [1 if row["income"] == ">50K" else -1 for row in rows])
    np.testing.assert_array_equal(found.y, found.y_test)
    # Fourteen columns, each of which is in one category, unless it is unknown.
    np.testing.assert_array_equal(found.x.sum(axis=1), [13 if row["work"] == "?" else 14 for row in rows])
    age, fifths = np.array([row["age"] for row in rows]), found.x[:, :5]
    assert fifths.sum(axis=0).min() >= 5
    assert all(age[fifths[:, k] == 1].max() <= age[fifths[:, k + 1] == 1].min() for k in range(4))
    np.testing.assert_array_equal(found.x[:, 5] == 1, [row["work"] == "Private" for row in rows])
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        for name in benchmarks.ADULT_FILES:
            file.write(tmp_path / name, f"package/data/{name}")
    np.testing.assert_equal(vars(benchmarks.adult(wheel)), vars(found))
    rng, parts, expected = np.random.default_rng(0), {"a9a": (6, (-1, 1)), "a9a.t": (4, (0, 1))}, []
    for name, (n, labels) in parts.items():
        x, y = (rng.uniform(size=(n, 123)) < 0.1).astype(float), np.repeat(labels, n // 2)
        x[:, 122] = 0  # the last input never occurs in the file
        dump_svmlight_file(x, y, str(tmp_path / name), zero_based=False)
        expected += [x, np.where(y > 0, 1, -1)]
    found = benchmarks.adult(tmp_path)
    np.testing.assert_equal([found.x, found.y, found.x_test, found.y_test], expected)
    for content, name in ((b"", "adult.data"), (b"", "x.whl"), (b"1, 2\n", "adult.data"), (b"1, 2\n", "x.whl")):
        (folder := tmp_path / f"other{len(content)}").mkdir(exist_ok=True)
        for one in ("x.whl", *benchmarks.ADULT_FILES):
            (folder / one).write_bytes(content)
        with pytest.raises(RecordingError, match=re.escape(name)):
            benchmarks.adult(folder / name if name == "x.whl" else folder)


def test_tables_of_r_are_read_however_they_are_compressed(tmp_path):
    """A lazy-load database has an index of places in a file, where 4 bytes of the size precede each object."""
    rdata, pandas = pytest.importorskip("rdata"), pytest.importorskip("pandas")
    of_xz = {"format": lzma.FORMAT_RAW, "filters": [{"id": lzma.FILTER_LZMA2}]}
    packed = {"zlib": zlib.compress, "bzip2": lambda data: b"2" + bz2.compress(data),
              "xz": lambda data: b"Z" + lzma.compress(data, **of_xz)}  # fmt: skip
    places, stored, columns = {}, b"", {name: {"a": np.arange(3.0) + len(name), "b": np.ones(3)} for name in packed}

    def serialized(value):
        rdata.write_rds(tmp_path / "x.rds", value, compression=None)
        return (tmp_path / "x.rds").read_bytes()

    for name, pack in packed.items():
        content = b"size" + pack(serialized(pandas.DataFrame(columns[name])))
        places[name], stored = np.array([len(stored), len(content)]), stored + content
    (tmp_path / "Rdata.rdb").write_bytes(stored)
    rdata.write_rda(tmp_path / "x.rda", {name: pandas.DataFrame(table) for name, table in columns.items()})
    for (name, table), pack in zip(columns.items(), (zlib.compress, gzip.compress, zlib.compress), strict=True):
        (tmp_path / "Rdata.rdx").write_bytes(pack(serialized({"variables": places})))
        np.testing.assert_equal(r_packages.read_database(tmp_path, name), table)
        np.testing.assert_equal(r_packages.read_rda(tmp_path, "x.rda", name), table)


def test_a_file_is_found_or_fetched_once_and_must_be_the_one_that_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "cache_folder", lambda: tmp_path / "in")
    one, digest = ("sh", "-c", "printf x > p"), hashlib.sha256(b"x").hexdigest()
    for command, sha256, words in (
        (("sh", "-c", "touch p q"), None, "sh left 2 files: run 'sh -c touch p q' where sh works and give the file"),
        (one, "0" * 64, f"a has SHA-256 {digest}, not 0"), (("no-client",), None, r"cannot fetch a \(.*No such file"),
        (("sh", "-c", "echo no; echo network >&2; exit 1"), None, r"cannot fetch a \(network\): run 'sh"),
    ):  # fmt: skip
        with pytest.raises(RecordingError, match=words):
            fetching.fetch("a", command, sha256)
    for name, command, sha256 in (("a", one, digest), ("a", ("no-client",), "another"), ("b", one, None)):
        assert fetching.fetch(name, command, sha256).read_text() == "x"
    monkeypatch.setattr(fetching, "fetch", fetch := Mock())
    assert fetching.debian("some", tmp_path) == tmp_path and fetching.debian("some", Path("no/where")) is fetch()
    fetch.assert_any_call("some.deb", ("apt-get", "download", "some"))
    monkeypatch.setenv("ICUB_LEARNING_DATA", str(tmp_path))
    for given in (None, tmp_path, tmp_path / "in", tmp_path / "in" / "a"):
        assert fetching.find_file(given, "other.csv", "in/a") == tmp_path / "in" / "a"
    monkeypatch.delenv("ICUB_LEARNING_DATA")
    with pytest.raises(RecordingError, match=r"no other\.csv in \$ICUB_LEARNING_DATA, which is not set: give it"):
        fetching.find_file(None, "other.csv")
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(RecordingError, match="pip install rdata"):
        r_packages.read_rda(tmp_path, "x.rda", "x")


def test_public_files_are_read_and_other_tables_refused(tmp_path, monkeypatch):
    texts = {"1 2 3\n4 5 6\n": r"\(2, 3\)", "words\n": "", "": "", "a,b\n1,2\n": "has no column 'time'"}
    texts |= {"time,status,f\n1,R,2\n2,R,3\n": "all patients have one status"}
    for text, words in texts.items():
        (tmp_path / "x.csv").write_text(text)
        with pytest.raises(RecordingError, match=rf"x\.csv.*{words}"):
            (tables.load_wpbc if "," in text else tables.pumadyn)(tmp_path / "x.csv")
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(10, 4)), rng.normal(size=10)
    dump_svmlight_file(x, y, str(tmp_path / "cpusmall"), zero_based=False)
    np.savetxt(tmp_path / "YearPredictionMSD.txt", np.column_stack([y, x]), delimiter=",")
    rows = np.column_stack([np.arange(10), x, y])
    head = ",".join(["patientId", *(f"value{k}" for k in range(4)), "reference"])
    np.savetxt(tmp_path / "slice_localization_data.csv", rows, delimiter=",", header=head, comments="")
    assert [round(one.share * 515_345) for one in tables.PUBLIC.values()] == [412_301, 412_276, 463_715]
    for name in tables.PUBLIC:
        for given in (tmp_path, tmp_path / tables.PUBLIC[name].names[0]):
            inputs, targets = tables.load_public(name, given)
            np.testing.assert_allclose(inputs, x)
            np.testing.assert_allclose(targets, y)
    (tmp_path / "YearPredictionMSD.txt").write_text("1,2\n3,words\n")
    (tmp_path / "cpusmall").unlink()
    damaged = {"year-prediction": r"cannot read .*YearPredictionMSD\.txt", "cpuSmall": "no cpusmall in"}
    for name, words in damaged.items():
        with pytest.raises(RecordingError, match=words):
            tables.load_public(name, tmp_path)
    rng = np.random.default_rng(0)
    columns = {f"c{k}": rng.normal(size=benchmarks.INSURANCE_ROWS) for k in range(84)}
    columns["constant"] = np.full(benchmarks.INSURANCE_ROWS, 3.0)
    bought, columns["c0"][-1] = (rng.uniform(size=benchmarks.INSURANCE_ROWS) < 0.06).astype(float), 1000.0
    given = {**columns, benchmarks.BOUGHT: bought}
    monkeypatch.setattr(benchmarks, "read_rda", lambda path, file, name: dict(given))
    found = benchmarks.insurance(tmp_path)
    assert found.x.shape == (5822, 85) and found.x_test.shape == (4000, 85)
    assert found.x.min() == 0 and found.x.max() == 1 and found.x_test.max() > 100 and set(found.x[:, -1]) == {0.0}
    np.testing.assert_array_equal(np.concatenate([found.y, found.y_test]), 2 * bought - 1)
    del given["c1"]
    with pytest.raises(RecordingError, match="85 inputs"):
        benchmarks.insurance(tmp_path)
