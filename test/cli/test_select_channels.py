"""select-channels: finds what the output depends on among smooth channels, whatever the file format."""

import csv
import json
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from helpers import records
from scipy.ndimage import gaussian_filter1d

from icub_learning.cli.main import main
from icub_learning.errors import DataError, NotFiniteError, ShapeError
from icub_learning.evaluation.channels import align, channels
from icub_learning.kernel_methods.tensor import channel_selection
from icub_learning.kernel_methods.tensor.channel_selection import ChannelRanking, rank_channels
from icub_learning.recording import Recording


def smooth_channels(n=3000, d=24):
    values = gaussian_filter1d(np.random.default_rng(0).normal(size=(n, d)), 8, axis=0)
    return values / values.std(axis=0)


def test_the_channels_that_the_output_depends_on_are_chosen():
    z = smooth_channels()
    x = 7.0 + z * np.logspace(-3, 3, 24)  # channels of very different scales, with an offset
    y = 40.0 + z[:, 2] - 0.7 * z[:, 5] + 0.5 * z[:, 11] + 0.3 * np.random.default_rng(100).normal(size=len(x))
    ranking = rank_channels(x, y, [f"c{j}" for j in range(24)])
    assert set(ranking.chosen) == {"c2", "c5", "c11"} == set(ranking.names[:3]) and ranking.importance[:3].sum() > 0.8
    assert ranking.explained_by_chosen > 0.9 and ranking.explained > 0.9


def test_noise_is_explained_by_nothing():
    x = smooth_channels()
    y = gaussian_filter1d(np.random.default_rng(2).normal(size=len(x)), 8)
    ranking = rank_channels(x, y, [f"c{j}" for j in range(24)])
    assert len(ranking.chosen) <= 1 and ranking.explained < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["polynomial", "exponential"])
def test_a_product_of_channels_needs_a_kernel_that_sees_products(kernel):
    x = smooth_channels(d=6)
    y = x[:, 1] * x[:, 4] + 0.1 * np.random.default_rng(3).normal(size=len(x))
    assert set(rank_channels(x, y, list("abcdef"), kernel=kernel, n_resamples=10).chosen) == {"b", "e"}


def test_what_cannot_be_ranked_is_refused():
    x, names = smooth_channels(200, 3), ["a", "b", "c"]
    for values, output, error in (
        (x, np.ones(200), DataError), (np.ones((200, 3)), x[:, 0], DataError), (x[:49], x[:49, 0], DataError),
        (x, x[:-1, 0], ShapeError), (np.where(x > 2, np.nan, x), x[:, 0], NotFiniteError),
        (x[:, :2], x[:, 0], ShapeError),
    ):  # fmt: skip
        with pytest.raises(error):
            rank_channels(values, output, names)


def recording(n=400, with_velocity=True):
    seconds = 1e-9 * (t := np.arange(1, n + 1) * 5_000_000)
    q = np.column_stack([np.sin(2 * seconds), np.cos(3 * seconds)])
    v = np.column_stack([2 * np.cos(2 * seconds), -3 * np.sin(3 * seconds)])
    return Recording(("a", "b"), t, q, v if with_velocity else None, effort=np.column_stack([q[:, 0], v[:, 1]]))


@pytest.mark.parametrize("with_velocity", [True, False])
def test_velocities_and_accelerations_follow_from_positions(with_velocity):
    one = recording(with_velocity=with_velocity)
    found = channels(one)
    assert set(found) == {f"{kind}.{j}" for kind in ("position", "velocity", "acceleration", "effort") for j in "ab"}
    middle = slice(40, -40)  # leaves out 0.2 s at each end, where fewer samples smooth the motion
    seconds = one.joint_stamps[middle] * 1e-9
    np.testing.assert_allclose(found["velocity.b"].values[middle], -3 * np.sin(3 * seconds), atol=1e-3)
    np.testing.assert_allclose(found["acceleration.a"].values[middle], -4 * np.sin(2 * seconds), atol=3e-3)


def test_channels_are_brought_to_the_instants_of_the_output():
    one = recording()
    stamps = one.joint_stamps[50:90:4] + 1_000_000
    other = replace(one, wrench_stamps=stamps, wrench=np.outer(np.arange(10), np.ones(6)))
    x, y, names = align(channels(other), "wrench.force.y", ["position.*"])
    assert names == ("position.a", "position.b") and y.tolist() == list(range(10))
    np.testing.assert_allclose(x[:, 0], np.sin(2e-9 * stamps), atol=1e-4)
    default = align(channels(one), "effort.a", [])[2]
    assert not any(name.startswith("effort") for name in default) and len(default) == 6


def test_values_that_are_not_finite_and_stamps_that_go_back_are_left_out():
    one = recording()
    q, stamps = one.position.copy(), one.joint_stamps.copy()
    q[7, 0], stamps[30] = np.nan, stamps[10]
    found = channels(replace(one, joint_stamps=stamps, position=q, acceleration=one.velocity))
    assert len(found["position.a"].values) == 398 and len(found["position.b"].values) == 399
    assert (np.diff(found["position.a"].stamps) > 0).all()


def write_table(path):
    """Effort depends on position.a and on temperature.b, a column that `read` does not know."""
    rng, n = np.random.default_rng(0), 1500
    x = smooth_channels(n, 5)
    effort = 2 * x[:, 0] - 1.5 * x[:, 4] + 0.2 * rng.normal(size=n)
    table = {
        "stamp_ns": np.arange(1, n + 1) * 10_000_000, "position.a": x[:, 0], "position.b": x[:, 1], "effort.a": effort,
        "effort.b": rng.normal(size=n), "temperature.a": x[:, 2], "current.a": x[:, 3],
        "voltage.a": np.full(n, np.nan), "temperature.b": x[:, 4],
    }  # fmt: skip
    if path.suffix == ".npz":
        np.savez(path, **table)
        return
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*table, "remark"])
        for k, (*cells, last) in enumerate(zip(*table.values(), strict=True)):
            writer.writerow([*cells, last if k % 7 else "", "fine"])  # a sensor that reports less often


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_the_command_answers_in_words_and_draws(tmp_path, capsys, suffix):
    write_table(path := tmp_path / f"run{suffix}")
    picture, figures = tmp_path / "c.png", tmp_path / "c.json"
    options = ["--inputs", "position.*", "temperature.*", "current.*", "--plot", str(picture), "--json", str(figures)]
    assert main(["select-channels", str(path), "--output", "effort.a", *options]) == 0
    out, found = capsys.readouterr().out, json.loads(figures.read_text())
    records.check(__file__, suffix, [out.replace(str(tmp_path), "").splitlines(), found | {"recording": ""}])


@pytest.mark.parametrize(("n_chosen", "explained"), [(0, (0.005, 0.0)), (1, (0.5, 0.006)), (3, (0.98, 0.97))])
def test_none_one_or_some_channels_are_named_and_forty_drawn(n_chosen, explained, tmp_path, capsys, monkeypatch):
    names, share = tuple(f"c{k}" for k in range(41)), np.linspace(1.0, 0.0, 41)
    ranking = ChannelRanking(names, share, share, share, np.arange(41) < n_chosen, *explained, 1.0, 7)
    monkeypatch.setattr(channel_selection, "rank_channels", ranked := Mock(return_value=ranking))
    write_table(tmp_path / "run.npz")
    line = f"select-channels {tmp_path / 'run.npz'} --output effort.a"
    with records.drawn() as shown:
        assert main(line.split() + ["--plot", str(tmp_path / "c.png")] * (n_chosen == 0)) == 0
    out = capsys.readouterr().out.replace(str(tmp_path), "")
    records.check(__file__, f"{n_chosen} chosen", [*out.splitlines(), shown])
    settings = {"kernel": "linear", "degree": 2, "order": 4, "threshold": 0.8, "seed": 0, "n_resamples": 20}
    assert settings.items() <= ranked.call_args.kwargs.items()
