"""Invalid options and absent robots: the error is one line that names them, and the exit code is 2."""

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
UR10 = f"{{arm}} --urdf ur10 --output joint_torque --joints {','.join(JOINTS)} --n-random-features 100"
# Command line | parts of its error line, separated by *: a value beyond each bound, and names that do not exist.
BAD = f"""
check {{arm}} --urdf ur10 --sensor nosensor | --sensor * a joint of the URDF
check --duration 0 | --duration * (0, 3600]
check --duratoin 3 | check: * --duratoin * mean --duration? * check --help
demo --no-view --domain 500 | --domain * [0, 232]
demo --no-view --output /dev/null/out | --output
demo --no-view --seconds 4.9 | --seconds * [5, 3600]
demo --no-view --seconds nan | --seconds
demo --no-view --views 0 | --views * [1, inf)
evaluate x --seed one | --help
evaluate --recording x | mean RECORDING without --recording?
evaluate --table a.npz --test b.npz | --table
evaluate | --help
evaluate a.npz --table b.npz | RECORDING
evaluate a.npz | --urdf
evaluate {UR10} --joints , | --joints
evaluate {UR10} --joints elbow_joint no_such_joint | no_such_joint
evaluate --urdf ur10 --joints a b {{arm}} | --joints * is a file: put the recording first
evaluate {UR10} --n-random-features 7 | n_random_features is 7
evaluate {UR10} --output wrench | no wrench
evaluate {UR10} --urdf /no/such.urdf | /no/such.urdf
evaluate x.csv {ARM} --horizon -0.1 | --horizon * [0, inf)
evaluate x.csv {ARM} --plot picture.docx | --plot * .png
evaluate x.csv {ARM} --steady-from 1.1 | --steady-from * [0, 1]
evaluate x.csv {ARM} --transient -0.1 | --transient * [0, inf)
export-urdf none.npz out.urdf | no file none.npz
fleet | ACTION
fleet gather . absent.npz | no file absent.npz
fleet spread . x.npz | no file pooled.npz
latency --seconds 0 | --seconds * (0, inf)
launch nowhere | recording
launch recording --show | recording:=
launch robot arm:=right --show | one of robot, config
launch robot rebot:=ur10 --show | did you mean robot?
launch robot config:={{arm}} --show | a YAML file
launch robot robot:=detection --show | a file with a section inverse_dynamics: (it has ['object_detection'])
launch robot log_level:=loud --show | debug
launch robot robot --show | name:=value
launch robot robot:=nobody --show | nobody.yaml
launch simulation config:=/nowhere.yaml --show | /nowhere.yaml
model inof x.npz | inof * mean info? * model --help
model | ACTION
model merge a.npz b.npz | --to
no-such-command | --help
record new --duration 0 | --duration * (0, inf)
record {{arm}} | exists already
replay /no/such/file.csv | does not exist
replay x.csv --stamp-source arrival | --stamp-source
replay x.csv --rate 0 | --rate * (0, inf)
replay x.csv --wait -0.1 | --wait * [0, inf)
reproduce all --only figure-9.9 | figure-9.9
reproduce detection --scenes 0 | --scenes * at least 1
reproduce detection --tests 0 | --tests * at least 1
reproduce detection --threads 0 | --threads * at least 1
reproduce figure-4.1 --data nowhere | nowhere
reproduce figure-5.1 --samples 49 | --samples * at least 50
reproduce figure-5.2 --draws 1 | --draws * at least 2
reproduce figure-7.1 --samples 99 | --samples * at least 100
reproduce figure-7.2 --draws 0 | --draws * at least 1
reproduce figure-7.2 --on mnist fashion-mnist --data x | --on
reproduce figure-8.4 --samples 0 | n_samples * at least 1
reproduce polk-convergence --samples 999 | --samples * at least 1000
reproduce polk-curves --on multidist --train 99 | --train * at least 100
reproduce recognition --seeds -1 | --seeds * at least 0
reproduce table-7.1 --data x.tgz | --on
reproduce table-7.1 --on letters | letters
reproduce table-7.1 --on mnist --data nowhere.tgz | nowhere.tgz
reproduce table-7.1 --on mnist --n-bal 4 | --n-bal * at least 5
reproduce table-7.1 --on mnist --n-test 0 | --n-test * at least 1
reproduce table-7.1 --on mnist --seed -1 | --seed * at least 0
reproduce table-7.1 --on mnist --trials 0 | --trials * at least 1
reproduce table-7.1 --on objects --data nowhere.npz | nowhere.npz
reproduce tensor-wpbc --data nowhere.csv | nowhere.csv
reproduce tensor-wpbc --splits 0 | --splits * at least 1
select-channels {{arm}} --output effort.elbow_joint --inputs nothing.* | select-channels: * nothing
select-channels {{arm}} --output effort.elbow_joint --order 3 | select-channels: * order
select-channels {{arm}} --output effort.elbow_joint --plot x.txt | select-channels: * --plot
select-channels {{arm}} --output effort.elbow_joint --resamples 1 | select-channels: * resamples * at least 2
select-channels {{arm}} --output effort.elbow_joint --threshold 0 | select-channels: * threshold * (0, 1]
select-channels {{arm}} --output effort.z | select-channels: * effort.z
select-channels x.csv --output a --seed -1 | --seed * [0, inf)
simulate --output x.npz --duration -1 | duration * [0, 1e+06]
simulate --output x.npz --noise -1 | noise * [0, 10]
simulate --output x.npz --rate 300 | rate * divisor of 1000
simulate --output x.npz --side both | right
simulate --output x.npz --task dance | circle_xy
simulate --output x.npz --task hold --duration 1 2 | duration * 1 tasks
teach --detect --label a --seconds 0 | --seconds * (0, 3600]
teach --label a --boxes motion | --detect
teach --frames 0 | --frames * [1, inf)
teach --rate 0.009 | --rate * [0.01, 1000]
teach --timeout 0 | --timeout * (0, 3600]
tune nowhere | does not exist
tune . | 0 folders
tune . --folds 0 | --folds * [1, inf)
tune . --gap -1 | --gap * [0, inf)
tune . --plot x.docx | --plot
tune . --tune-on 0 | --tune-on * (0, 1)
tune . --tune-on 1 | --tune-on
tune {{arm}} | settings choose themselves while it learns
tune {{arm.parent}} | settings choose themselves while it learns
view {{arm}} --joints elbow_joint | --urdf
view {{arm}} --urdf no_robot | no_robot
view {{arm}}.nowhere | nowhere
view --port -1 | --port * [0, 65535]
view --port 65536 | --port * [0, 65535]
"""


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
    write_image(path.with_name("mug.png"), np.zeros((24, 32, 3), np.uint8))
    return path


def shown_beside_the_error(case, arm, capfd):
    line, _, expected = case.partition("| ")
    assert main(line.format(arm=arm).split()) == 2
    shown = capfd.readouterr()
    assert shown.err.count("\n") == 1 and all(part in shown.err for part in expected.split(" * "))
    return shown.out


@pytest.mark.parametrize("case", ["| --help", *BAD.strip().splitlines()])
def test_bad_options_are_one_line(case, arm, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(images, "load_mnist", load_mnist_once)
    monkeypatch.chdir(tmp_path)
    assert shown_beside_the_error(case, arm, capfd) == "" and not list(tmp_path.iterdir())


@pytest.mark.parametrize("case", ALONE.strip().splitlines())
def test_what_is_not_there_is_one_line(case, arm, ros_domain, tmp_path, monkeypatch, capfd):
    set_limits(0.2, monkeypatch.setattr)
    monkeypatch.chdir(tmp_path)
    shown_beside_the_error(case, arm, capfd)
