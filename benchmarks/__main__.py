"""Run the named benchmarks, or all of them, and write tables, JSON, pictures and one page with them."""

import argparse
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.report import machine
from benchmarks.scenarios import SCENARIOS
from icub_learning.reporting import page


def main() -> None:
    names = "\n".join(f"  {name:22}{scenario.description}" for name, scenario in SCENARIOS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"benchmarks:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; all where none is given")
    parser.add_argument("--list", action="store_true", help="only list the names")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and samples: for a look, not for figures")
    parser.add_argument("--out", type=Path, default=Path("out", "bench"), help="where results are written")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in SCENARIOS]:
        parser.error(f"{', '.join(unknown)}: no such benchmark; --list names them")
    if arguments.list:
        print(names)
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    parts = []
    with threadpool_limits(1):
        for name in arguments.names or SCENARIOS:
            print(f"{name}: {SCENARIOS[name].description}", flush=True)
            result = SCENARIOS[name].run(arguments.quick)
            result.write(arguments.out / name)
            parts += result.parts(name, SCENARIOS[name].description, arguments.out / name)
    report = arguments.out / "report.html"
    form = "quick form: for a look, not for figures" if arguments.quick else "full form"
    head = [page.paragraph(f"{form}; {page.written()}", "note"), page.machine_table(machine())]
    page.write_page(report, page.page("Benchmarks", head + parts))
    print(f"report: {report}")


if __name__ == "__main__":
    main()
