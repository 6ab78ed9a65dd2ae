"""The keeper of a node's models, without a node: what it saves, what it reports where it cannot, and who waits."""

import logging
import threading

import numpy as np
import pytest

from icub_learning.errors import IcubLearningError, StateError
from icub_learning.models.header import ModelHeader
from icub_learning.models.kept import KeptModels
from icub_learning.nodes.common.model_keeper import ModelKeeper

HEADER, LOGGER = ModelHeader("object_recognition"), logging.getLogger("keeper")


@pytest.fixture
def keep(tmp_path):
    made = []

    def start(**settings):
        values = {"models_folder": str(tmp_path), "any_model_path": False, "model_file": "kept", "keep_models": 3}
        values |= {"autosave_period": 60.0, "answer_timeout": 20.0}
        made.append(ModelKeeper(values | settings, lambda: HEADER, lambda: 10**6))
        return made[-1]

    yield start
    for keeper in made:
        keeper.close()


def state(number):
    return {"weights": np.full(3, float(number))}


def weights_of(found):
    return found["weights"].copy()


def test_what_was_saved_last_is_loaded_and_a_revision_is_written_once(keep):
    keeper = keep()
    assert keeper.load_newest(weights_of, LOGGER) is None
    assert keeper.lacks(1) and keeper.status()["model saved"] == "not yet"
    keeper.save_now(state(1), HEADER, 1)
    assert (keeper.failure, keeper.saved_revision) == ("", 1) and "kept" in keeper.status()["model saved"]
    keeper.save_now(state(2), HEADER, 1)  # not written: nothing was learned since
    keeper.close()
    again = keep()
    np.testing.assert_array_equal(again.load_newest(weights_of, LOGGER), state(1)["weights"])
    again.save_now(state(3), HEADER, 7)
    np.testing.assert_array_equal(again.load_newest(weights_of, LOGGER), state(3)["weights"])


def test_a_disk_that_answers_late_is_told_and_the_model_is_written_all_the_same(keep, monkeypatch):
    keeper, go_on, save = keep(answer_timeout=0.1), threading.Event(), KeptModels.save
    monkeypatch.setattr(KeptModels, "save", lambda *args: go_on.wait(60.0) and save(*args))
    keeper.save_now(state(1), HEADER, 1)
    assert keeper.failure == "the model was not saved within 0.1 s" and keeper.saved_revision == 0
    waiting = keeper.read("kept")  # read after the model is saved
    keeper.autosave(state(2), HEADER, 2)
    keeper.autosave(state(3), HEADER, 3)  # dropped: the last one still waits
    go_on.set()
    np.testing.assert_array_equal(waiting.result(60.0)["weights"], state(1)["weights"])
    assert keeper.check("kept").result(60.0) and keeper.saved_revision == 2 and not keeper.failure


def test_a_disk_that_is_full_and_a_folder_below_a_file_are_told_and_logged(keep, monkeypatch, capfd, caplog):
    keep(models_folder=f"{__file__}/below").load_newest(weights_of, LOGGER)
    assert "what is learned cannot be saved: [Errno 20] Not a directory" in caplog.text
    keeper = keep()
    monkeypatch.setattr(KeptModels, "save", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
    keeper.save_now(state(1), HEADER, 1)
    assert keeper.status()["model problem"] == keeper.failure and keeper.saved_revision == 0
    assert "not saved: no space left; the last one that was saved: none" in capfd.readouterr().err


def test_models_that_are_too_large_or_would_replace_another_kind_are_refused_and_what_is_replaced_is_told(keep, caplog):
    caplog.set_level("INFO")
    keeper = keep()
    keeper.write("large", {"weights": np.zeros(200_000)}, HEADER).result(60.0)
    with pytest.raises(IcubLearningError, match="1600128 bytes or more, above the limit of 1000000"):
        keeper.read("large").result(60.0)
    new, again = (keeper.write("mine", state(1), HEADER).result(60.0) for _ in range(2))
    assert new.endswith("mine.npz") and again.startswith(f"{new}, in place of the model of 2")
    with pytest.raises(StateError, match="npz holds a model of object_recognition"):
        keeper.write("mine", state(2), ModelHeader("inverse_dynamics")).result(60.0)
    assert weights_of(keeper.read("mine").result(60.0))[0] == 1.0
    keeper.write("kept", state(1), ModelHeader("inverse_dynamics")).result(60.0)
    assert keeper.load_newest(weights_of, LOGGER) is None and "no model that can be taken, nothing is" in caplog.text


def test_without_a_model_file_nothing_is_kept_and_one_that_leads_out_is_refused(keep, tmp_path):
    keeper = keep(model_file="")
    keeper.save_now(state(1), HEADER, 1)
    assert not keeper.lacks(1) and not list(tmp_path.glob("kept*")) and keeper.load_newest(weights_of, LOGGER) is None
    with pytest.raises(IcubLearningError):
        keep(model_file="../kept")
