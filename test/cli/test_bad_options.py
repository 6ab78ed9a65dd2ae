"""Invalid options and absent robots: the error is one line that names them, and the exit code is 2."""

import re
from functools import cache

import numpy as np
import pytest
from helpers.limits import set_limits
from helpers.recordings import JOINTS, rigid_recording

from icub_learning.cli.image_sources import write_image
from icub_learning.cli.main import main
from icub_learning.experiments.data import images
from icub_learning.recording import write

load_mnist_once = cache(images.load_mnist)
ARM = "--urdf ur10 --output joint_torque --joints a"
EFFORT = "{arm} --output effort.elbow_joint"
UR10 = f"{{arm}} --urdf ur10 --output joint_torque --joints {','.join(JOINTS)} --n-random-features 100"
# Command: what follows it | parts of its error line, separated by *; the next. Or: option, value beyond bound, bound.
BAD = f"""
check: --duratoin 3 | check: * --duratoin * mean --duration? * check --help; --duration 3601 (0, 3600]
check: {{arm}} --urdf ur10 --sensor nosensor a joint of the URDF; --duration 0 (0, 3600]
demo --no-view: --output /dev/null/out | --output; --seconds nan | --seconds; --seconds 4.9 [5, 3600]
demo --no-view: --domain 500 [0, 232]; --domain -1 [0, 232]; --views 0 [1, inf)
evaluate: --urdf ur10 --joints a {{arm.parent}}/bag | --joints * is a file: put the recording first; a.npz | --urdf
evaluate: --urdf ur10 --joints a b {{arm}} | --joints * is a file: put the recording first; x --seed one | --help
evaluate: --recording x | mean RECORDING without --recording?; --table a.npz --test b.npz | --table; | --help
evaluate: --table a.npz --plot b.png | --table; a.npz --table b.npz | RECORDING
evaluate x.csv {ARM}: --plot picture.docx | --plot * .png, .pdf, .svg; --report page.txt | --report * .html, .htm
evaluate x.csv {ARM}: --transient -0.1 [0, inf); --steady-from 1.1 [0, 1]; --horizon -0.1 [0, inf)
evaluate {UR10}: --joints elbow_joint no_such_joint | no_such_joint; --n-random-features 7 | n_random_features is 7
evaluate {UR10}: --urdf /no/such.urdf | /no/such.urdf; --output wrench | no wrench; --joints , | --joints
export-urdf: none.npz out.urdf | no file none.npz
fleet: gather . absent.npz | no file absent.npz; spread . x.npz | no file pooled.npz; | ACTION
latency: --seconds 0 (0, inf)
launch: simulation config:=/nowhere.yaml --show | /nowhere.yaml; recording --show | recording:=; nowhere | recording
launch robot: robot:=detection --show | a file with a section inverse_dynamics: (it has ['object_detection'])
launch robot: arm:=right --show | one of robot, config; rebot:=ur10 --show | did you mean robot?
launch robot: config:={{arm}} --show | a YAML file; robot:=nobody --show | nobody.yaml; log_level:=loud --show | debug
launch robot: robot --show | name:=value
model: inof x.npz | inof * mean info? * model --help; merge a.npz b.npz | --to; | ACTION
no-such-command: | --help
record: new --duration 0 (0, inf); {{arm}} | exists already
replay: x.csv --stamp-source arrival | --stamp-source; /no/such/file.csv | does not exist; x.csv --wait -0.1 [0, inf)
replay: x.csv --rate 0 (0, inf)
reproduce: figure-7.2 --on mnist fashion-mnist --data x | --on; polk-curves --on multidist --train 99 at least 100
reproduce: figure-8.4 --samples 0 | n_samples * at least 1; polk-convergence --samples 999 at least 1000
reproduce: tensor-wpbc --data nowhere.csv | nowhere.csv; figure-7.1 --samples 99 at least 100
reproduce: figure-4.1 --data nowhere | nowhere; figure-5.1 --samples 49 at least 50; all --only figure-9.9 | figure-9.9
reproduce: recognition --seeds -1 at least 0; tensor-wpbc --splits 0 at least 1; detection --threads 0 at least 1
reproduce: figure-5.2 --draws 1 at least 2; figure-7.2 --draws 0 at least 1; detection --scenes 0 at least 1
reproduce: detection --tests 0 at least 1
reproduce table-7.1: --on objects --data nowhere.npz | nowhere.npz; --on mnist --data nowhere.tgz | nowhere.tgz
reproduce table-7.1: --on mnist --n-test 0 at least 1; --on mnist --trials 0 at least 1; --on mnist --seed -1 at least 0
reproduce table-7.1: --on mnist --n-bal 4 at least 5; --on letters | letters; --data x.tgz | --on
select-channels: {{arm}} --output effort.z | select-channels: * effort.z; x.csv --output a --seed -1 [0, inf)
select-channels {EFFORT}: --resamples 1 | select-channels: * resamples * at least 2
select-channels {EFFORT}: --threshold 0 | select-channels: * threshold * (0, 1]; --order 3 | select-channels: * order
select-channels {EFFORT}: --inputs nothing.* | select-channels: * nothing; --plot x.txt | select-channels: * --plot
simulate --output x.npz: --task hold --duration 1 2 | duration * 1 tasks; --duration -1 | duration * [0, 1e+06]
simulate --output x.npz: --rate 300 | rate * divisor of 1000; --noise -1 | noise * [0, 10]; --task dance | circle_xy
simulate --output x.npz: --side both | right
teach: --detect | --label * --detect asks no questions; --detect --label a --seconds 0 | --seconds * (0, 3600]
teach: --label a --boxes motion | --detect; --label a --box 1 2 3 4 | --detect; --rate 0.009 [0.01, 1000]
teach: --rate 1001 [0.01, 1000]; --frames 0 [1, inf); --timeout 0 (0, 3600]
tune: {{arm.parent}} | settings choose themselves while it learns; {{arm}} | settings choose themselves while it learns
tune: . --tune-on 1 | --tune-on; nowhere | does not exist; . --plot x.docx | --plot; . --folds 0 [1, inf); . | 0 folders
tune: . --tune-on 0 (0, 1); . --gap -1 [0, inf)
view: {{arm}} --joints elbow_joint | --urdf; {{arm}} --urdf no_robot | no_robot; {{arm}}.nowhere | nowhere
view: --port 65536 [0, 65535]; --port -1 [0, 65535]
"""
CASES = [" | --help"]
for row in BAD.strip().splitlines():
    command, _, rest = row.partition(": ")
    for one in rest.split("; "):
        case = one if "| " in one else re.sub(r"(--\S+) (\S+) ((?:[(\[]|at ).*)", r"\1 \2 | \1 * \3", one)
        CASES.append(f"{command} {case}")
# The same for commands that need a robot and find none.
ALONE = """
latency --seconds 1 | no joint states on /joint_states within 0.2 s; is the node active
record new --joint-states no-topic | Invalid topic name
teach --label mug --image nobody | no image on 'nobody'
teach --label mug --source {arm.parent} | icub-learning launch recognition
"""


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """Write a valid recording of an arm into a folder with a picture and an .mcap file, as in a rosbag2 folder."""
    write(rigid_recording(600), path := tmp_path_factory.mktemp("recordings") / "arm.npz")
    path.with_name("bag_0.mcap").touch()
    (bag := path.with_name("bag")).mkdir()
    (bag / "metadata.yaml").touch()
    write_image(path.with_name("mug.png"), np.zeros((24, 32, 3), np.uint8))
    return path


@pytest.mark.parametrize("case", [*CASES, *ALONE.strip().splitlines()])
def test_bad_options_and_absent_robots_are_one_line(case, arm, tmp_path, monkeypatch, capfd, request):
    monkeypatch.setattr(images, "load_mnist", load_mnist_once)
    monkeypatch.chdir(tmp_path)
    if alone := case in ALONE:
        request.getfixturevalue("ros_domain")
        set_limits(0.2, monkeypatch.setattr)
    line, _, expected = case.partition("| ")
    assert main(line.format(arm=arm).split()) == 2
    shown = capfd.readouterr()
    assert shown.err.count("\n") == 1 and all(part in shown.err for part in expected.split(" * "))
    assert alone or (shown.out == "" and not list(tmp_path.iterdir()))
