"""Model files: what is written is read back, and nothing that is damaged, too large or foreign gets into memory."""

import os
import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icub_learning import __version__
from icub_learning.errors import StateError
from icub_learning.models import ModelHeader, load_state, read_model, save_state, write_model
from icub_learning.models import files as model_files
from icub_learning.models.header import digest_of_urdf
from icub_learning.testing import same_arrays

STATE = {
    "numbers": np.linspace(0.0, 1.0, 300).reshape(20, 15), "count": np.asarray(7),
    "names": np.asarray(["elbow", "wrist"]), "flag": np.asarray(True), "none": np.empty((0, 3)),
}  # fmt: skip
HEADER = ModelHeader("inverse_dynamics", "iCub", "d1", ("a", "b"), "ft", settings={"seed": 3}, statistics={"sample": 9})


def npy(shape, data=b"", dtype="<f8"):
    """Return an .npy file that claims a shape, whatever data follows."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def archive(path, compression=zipfile.ZIP_STORED, **entries):
    with zipfile.ZipFile(path, "w", compression) as made:
        for name, data in entries.items():
            made.writestr(f"{name}.npy", data)
    return path


def test_a_model_comes_back_to_the_bit_with_its_description_and_files_of_numpy_without_any(tmp_path):
    path = write_model(tmp_path / "sub" / "arm", STATE, HEADER)
    assert path == tmp_path / "sub" / "arm.npz"
    state, header = read_model(tmp_path / "sub" / "arm")
    assert same_arrays(STATE, state) and header == replace(HEADER, release=__version__, checksums=header.checksums)
    assert header.checksums.keys() == STATE.keys()
    one, other = (replace(HEADER, settings=dict(entries)) for entries in (("ab", "cd"), ("cd", "ab")))
    assert one.text() == other.text()  # whatever the order of the settings
    some = {"a": np.arange(2), "b": np.float32(0.5), "c": {3}, "d": path, "e": (1, 2)}
    plain = ModelHeader.from_text(replace(HEADER, settings=some).text()).settings
    assert plain == {"a": [0, 1], "b": 0.5, "c": [3], "d": str(path), "e": [1, 2]}
    with np.load(path) as plain:  # NumPy alone reads it too
        assert (plain["numbers"] == STATE["numbers"]).all()
    for save in (np.savez, np.savez_compressed):  # as earlier releases wrote them, and as people pack them
        save(tmp_path / "old.npz", **STATE)
        state, header = read_model(tmp_path / "old.npz")
        assert header is None and same_arrays(STATE, state)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_what_an_entry_claims_is_checked_before_it_is_read(tmp_path, compression, monkeypatch):
    monkeypatch.setattr(model_files.npy, "read_array", lambda *_, **__: pytest.fail("read into memory"))
    for shape in ("(100000000000,)", "(1000000, 100000)", "(18446744073709551616,)", "(-1,)"):  # the first one: 745 GiB
        path = archive(tmp_path / "large.npz", compression, a=npy(shape, bytes(80)))
        assert path.stat().st_size < 1000
        with pytest.raises(StateError, match=r"large\.npz"):
            read_model(path)


def test_a_bomb_of_zeros_is_refused_by_the_limit_and_too_many_entries_before_they_are_listed(tmp_path, monkeypatch):
    bomb = npy("(400000,)", bytes(3_200_000))
    path = archive(tmp_path / "bomb.npz", zipfile.ZIP_DEFLATED, a=bomb, b=bomb)
    assert path.stat().st_size < 10_000
    with pytest.raises(StateError, match="limit of 4000000"):
        read_model(path, largest=4_000_000)
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)  # as above 2 GiB: with a larger end record
    path = archive(tmp_path / "zip64.npz", a=npy("(9,)", bytes(72)))
    assert read_model(path)[0]["a"].shape == (9,)
    content = path.read_bytes()
    at = content.rindex(b"PK\6\7") + 8  # where it says that the record is
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    with pytest.raises(StateError, match="end record"):
        read_model(path)
    monkeypatch.setattr(model_files, "LARGEST_DIRECTORY", 2000)
    path = archive(tmp_path / "many.npz", **{f"a{k}": npy("(1,)", bytes(8)) for k in range(100)})
    monkeypatch.setattr(model_files.zipfile, "ZipFile", lambda *_, **__: pytest.fail("listed"))
    with pytest.raises(StateError, match="too long"):
        read_model(path)


@pytest.mark.parametrize("entry", [
    npy("(1,)", bytes(8), "|O"), npy("(1,)", bytes(16), "<c16"), npy("(2, 2)", bytes(32)).replace(b"False", b"True "),
    npy("(1,)", bytes(16)), b"\x93NUMPY\x03\x00", b"no array", b"",
])  # fmt: skip
def test_other_content_than_plain_arrays_is_refused(tmp_path, entry):
    with pytest.raises(StateError):
        read_model(archive(tmp_path / "other.npz", a=entry))


@pytest.mark.timeout(60)
def test_entries_that_come_twice_or_are_no_arrays_are_refused_and_a_pipe_is_not_waited_for(tmp_path):
    good = npy("(1,)", bytes(8))
    with pytest.warns(UserWarning), zipfile.ZipFile(tmp_path / "twice.npz", "w") as made:
        made.writestr("a.npy", good)
        made.writestr("a.npy", good)
    with zipfile.ZipFile(tmp_path / "text.npz", "w") as made:
        made.writestr("readme.txt", "hello")
    for name, entry in (("twice", "a.npy"), ("text", "readme.txt")):
        with pytest.raises(StateError, match=f"entry '{entry}'"):
            read_model(tmp_path / f"{name}.npz")
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(StateError, match="ordinary file"):
        read_model(tmp_path / "pipe.npz")


@pytest.mark.parametrize("name", ["a" * 300, "x/" * 3000, "", "none", "/dev/null", "/"])
def test_paths_that_cannot_be_are_refused_with_a_reason(name):
    with pytest.raises(StateError, match=r"\w"):
        read_model(name)


def test_newer_formats_states_of_objects_and_places_that_cannot_be_written_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("icub_learning.models.header.FORMAT_VERSION", 99)
    path = write_model(tmp_path / "new", STATE, ModelHeader("inverse_dynamics", format_version=99))
    monkeypatch.setattr("icub_learning.models.header.FORMAT_VERSION", 1)
    with pytest.raises(StateError, match=r"format 99.*up to 1"):
        read_model(path)
    for bad in (np.array([{}, 1], dtype=object), 1j, np.datetime64(0, "s"), np.zeros(2, "i4,f8")):
        with pytest.raises(StateError, match="numbers or text"):
            save_state(tmp_path / "model", {"a": bad})
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / "text.npz").write_text("hello")
    for path, text in (("", "no file"), (".", "no file"), (tmp_path / "text.npz" / "below", "cannot write")):
        with pytest.raises(StateError, match=text):
            save_state(path, {"a": np.ones(1)})
    with pytest.raises(StateError, match=r"text\.npz"):
        load_state(tmp_path / "text.npz")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("written") / "model", STATE, HEADER).read_bytes()


@settings(max_examples=400, deadline=None)
@given(place=st.integers(0, 10**6), change=st.integers(1, 255) | st.none())
def test_damage_is_noticed_or_does_not_matter(written, tmp_path_factory, place, change):
    """Whichever byte is changed, or wherever the file is cut off (None), it is refused or gives the same arrays."""
    damaged, place = bytearray(written), place % len(written)
    damaged[place:] = b"" if change is None else bytes([damaged[place] ^ change]) + damaged[place + 1 :]
    path = tmp_path_factory.mktemp("damaged") / "model.npz"
    path.write_bytes(damaged)
    try:
        state, header = read_model(path)
    except StateError as error:
        assert str(path) in str(error)
    else:
        assert same_arrays(STATE, state) and header.statistics == HEADER.statistics


def test_an_entry_that_swallows_those_after_it_and_an_exchanged_array_are_noticed(written, tmp_path):
    """The list of entries gives each one a comment's length: a larger one makes the next entries part of it."""
    entry = written.rindex(b"PK\x01\x02", 0, written.rindex(b"model_checksum.npy"))
    length = written.rindex(b"PK\x01\x02", 0, entry) + 32  # place of the comment's length of the entry before
    path = tmp_path / "model.npz"
    path.write_bytes(written[:length] + (len(written) - 22 - entry).to_bytes(2, "little") + written[length + 2 :])
    with pytest.raises(StateError, match=r"lists \d of its 7 entries"):
        read_model(path)
    # A changed array may be valid for the archive, but is not what was written.
    path = write_model(tmp_path / "model", STATE, HEADER)
    with np.load(path) as content:
        arrays = dict(content)
    count = arrays.pop("count")
    for changed in (arrays | {"count": count + 1}, arrays):
        np.savez(path, **changed)
        with pytest.raises(StateError, match="'count' has another checksum"):
            read_model(path)
    whole = arrays | {"count": count}
    for name in ("model_header", "model_checksum"):
        for changed in ({key: value for key, value in whole.items() if key != name}, whole | {name: "another"}):
            np.savez(path, **changed)
            with pytest.raises(StateError, match="its description has another checksum"):
                read_model(path)


@pytest.mark.parametrize("change", [
    {"robot": "other"}, {"joints": ("b", "a")}, {"sensor": "other"}, {"kind": "object_recognition"},
    {"urdf_digest": "d2"}, {"robot": 300 * "x"}, {"robot": 301 * "x"},
])  # fmt: skip
def test_models_of_others_are_refused_with_both_names(change):
    with pytest.raises(StateError) as caught:
        replace(HEADER, **change).check_origin(HEADER, **({} if "urdf_digest" in change else {"any_urdf": True}))
    both = [*change.values(), *(getattr(HEADER, name) for name in change)]
    told, own = (one if isinstance(one, str) else ", ".join(one) for one in both)
    assert ("`any_urdf: true` or" in str(caught.value)) is ("urdf_digest" in change)
    assert f": {told if len(told) <= 300 else told[:300] + '...'}; here: {own}" in str(caught.value)
    HEADER.check_origin(HEADER)
    replace(HEADER, urdf_digest="d2").check_origin(HEADER, any_urdf=True)


def test_comments_and_white_space_of_a_urdf_do_not_count():
    one = '<robot name="r"><link name="a"/><link mass="1" name="b"/></robot>'
    other = '<!-- new -->\n<robot name="r">\n  <link name="a"></link> <link name="b" mass="1"/>\n</robot>'
    assert digest_of_urdf(one) == digest_of_urdf(other) and digest_of_urdf(one)[0] == "r"
    assert digest_of_urdf(one) != digest_of_urdf(one.replace('"1"', '"2"')) and digest_of_urdf("no xml")[0] == ""


@pytest.mark.parametrize("text", [
        "", "\0", "[" * 100_000, "[]", "3", "{}", '{"kind": "x"}', '{"format_version": 1}',
        *(f'{{"format_version": 1, "kind": "x", {entry}}}' for entry in (
            '"kind": 1', '"joints": 1', '"joints": [1]', '"settings": []', '"saved_at": "x"', '"format_version": "1"')),
    ], ids=lambda text: text[:60])  # fmt: skip
def test_a_description_that_is_none_is_refused(text):
    with pytest.raises(StateError):
        ModelHeader.from_text(text)
