"""Teach objects from pictures, one after the other, and name pictures that were not shown before.

    python examples/teach_objects_from_a_folder.py                # pictures of simulated objects, made on the spot
    python examples/teach_objects_from_a_folder.py FOLDER         # FOLDER/LABEL/*.png or *.jpg

The last fifth of each object's pictures, in the order of their names, is kept for the test.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from icub_learning.cli.common.image_sources import SUFFIXES, image_files, read_image
from icub_learning.errors import ParameterError
from icub_learning.models import write_model
from icub_learning.recognition import AdaptiveClassifier, CNNFeatures, assembly
from icub_learning.simulation import ObjectScene

OBJECTS = ("duck", "mug", "teddy", "soccer_ball")

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", nargs="?", type=Path)
parser.add_argument("--views", type=int, default=15, help="pictures of each simulated object")
parser.add_argument("--model", type=Path, default=Path("out/objects.npz"), help="where the model is kept")
args = parser.parse_args()
if args.views < 2:
    parser.error(f"--views is {args.views}, but must be at least 2: one in five is not taught")
if args.folder and not args.folder.is_dir():
    parser.error(f"{args.folder} is no folder: name one that holds a folder of pictures for each object")


def make_pictures(folder: Path) -> None:
    """Write views of simulated objects; needs off-screen OpenGL (see docs/setup.md)."""
    with ObjectScene(OBJECTS) as scene:
        for name in OBJECTS:
            scene.show(name)
            (folder / name).mkdir()
            for number in range(args.views):
                Image.fromarray(scene.render(number)).save(folder / name / f"{number:04d}.png")


network = CNNFeatures()


def features(folder: Path) -> np.ndarray:
    """Return the features of all pictures of a folder, (n, network.n_features)."""
    try:  # pictures are turned as their EXIF data say, and those of 16 bits a colour are read as well
        return np.array([network.transform(read_image(file)) for file in image_files(folder)])
    except ParameterError as error:
        parser.error(str(error))


with tempfile.TemporaryDirectory() as scratch:
    if not args.folder:
        make_pictures(Path(scratch))
    folders = sorted(entry for entry in (args.folder or Path(scratch)).iterdir() if entry.is_dir())
    pictures = {folder.name: found for folder in folders if len(found := features(folder)) > 1}
if not pictures:
    parser.error(f"{args.folder} holds no folder with two pictures or more, {' or '.join(SUFFIXES)}")

classifier = AdaptiveClassifier(network.n_features)  # chooses its settings by itself
asked: list[tuple[str, np.ndarray]] = []
for label, rows in pictures.items():
    taught, unseen = np.split(rows, [round(0.8 * len(rows))])
    classifier.learn(taught, [label] * len(taught))  # an unknown label adds a class; the cost does not grow
    asked += [(label, row) for row in unseen]
    known = [(name, row) for name, row in asked if name in classifier.classes]
    right = sum(classifier.predict(row) == name for name, row in known)
    print(f"taught {label:<14} with {len(taught):3d} pictures: {right} of {len(known)} unseen ones are named right")

# As object_recognition_node saves it, for `~/load_model` and `icub-learning model`.
recognizer = assembly.make_recognizer(settings := assembly.Settings())
recognizer.classifier, recognizer.source = classifier, network.source
written = write_model(args.model, recognizer.state(), assembly.describe(settings, recognizer, network.source))
print(f"the model is in {written}; a new object is one more call of learn, and forget({label!r}) removes one")
