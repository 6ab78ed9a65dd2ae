"""Run one endurance test: soak, kills, learners, messages, files, updates or autosave."""

import argparse
import importlib
import os
import sys
from pathlib import Path

TESTS = {
    "soak": "a simulated robot, a camera, lessons, loads, saves and restarts for a long time",
    "kills": "processes that save are killed at random moments",
    "learners": "the learning thread of a node at 500 Hz is killed at random moments",
    "messages": "random messages and requests to every node",
    "files": "random bytes as model files, recordings, joint states and images",
    "updates": "ten million updates at a bad condition, and silent inputs, beside batch solutions",
    "autosave": "the delay of predictions with and without saving meanwhile",
}


def main() -> int:
    names = "\n".join(f"  {name:10}{text}" for name, text in TESTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.endurance",
        description=__doc__,
        epilog=f"tests:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, default=Path("out", "endurance"), help="where results are written")
    tests = parser.add_subparsers(required=True, dest="test", metavar="TEST")
    # Only the module of the test that is run is imported: each needs other packages.
    chosen = next((one for one in sys.argv[1:] if one in TESTS), None)
    for name, text in TESTS.items():
        options = tests.add_parser(name, help=text)
        if name == chosen:
            module = importlib.import_module(f"benchmarks.endurance.{name}")
            module.add_options(options)
            options.set_defaults(run=module.run)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    return int(arguments.run(arguments) or 0)


if __name__ == "__main__":
    raise SystemExit(main())
