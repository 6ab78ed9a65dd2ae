"""Measure what the tests catch: change the package, one place at a time, and run the tests that could notice."""

import argparse
import fcntl
import hashlib
import json
import os
import queue
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from tqdm import tqdm

from tools.mutants.draw import Mutant, draw, load, save, sources
from tools.mutants.judge import judge, stopped
from tools.mutants.measure import in_check, measure
from tools.mutants.reach import Reach
from tools.mutants.tree import CHECKOUT, Copy

Result = dict[str, Any]  # the fields of a mutant, and those that `judge` returns
WORK = CHECKOUT / "out" / "mutants"
EQUIVALENT = Path(__file__).with_name("equivalent.yaml")


def main() -> None:
    """Draw or read mutants, run the tests on those that were not judged yet, and report."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--n", type=int, default=200, help="number of mutants")
    parser.add_argument("--seed", type=int, default=1, help="seed of the places and changes")
    parser.add_argument("--mutants", type=Path, help="judge the mutants of this file, of --json say")
    parser.add_argument("--suite", type=Path, default=CHECKOUT, help="run the tests of this other checkout instead")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="copies that run side by side")
    parser.add_argument("--json", type=Path, help="write all mutants with what came out to this file")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    try:
        with open(WORK / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # only one run at a time may use the copies
            results, notes = run(options)
    except KeyboardInterrupt:
        sys.exit("interrupted: the same command goes on from here")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    print(report(results), *notes, sep="\n")


def run(options: argparse.Namespace) -> tuple[list[Result], list[str]]:
    """Return the mutants with the result for each, and notes on what was left out."""
    suite = options.suite.resolve()
    texts = sources()
    mutants = load(options.mutants) if options.mutants else drawn(texts, options.n, options.seed)
    entries = yaml.safe_load(EQUIVALENT.read_text()) or []
    counted = [mutant for mutant in mutants if not any(same(mutant, entry) for entry in entries)]
    reach = Reach(measure(suite, WORK, options.jobs), in_check(suite, WORK))
    results = judge_all(counted, suite, reach, options.jobs)
    gone = [result for result in results if "gone" in result]
    notes = [f"left out: {len(mutants) - len(counted)} that no test can notice ({EQUIVALENT.name})"]
    notes += [f"left out: {len(gone)} whose lines are not in this package"] if gone else []
    notes += [f"left out: a test that fails without any change: {name}" for name in reach.failing]
    stale = [entry for entry in entries if entry["old"] not in texts.get(entry["file"], "")]
    notes += [f"{EQUIVALENT.name}: not in the package any more: {entry['file']}: {entry['old']}" for entry in stale]
    return [result for result in results if "gone" not in result], notes


def same(mutant: Mutant, entry: dict[str, str]) -> bool:
    """Return whether an entry of the list of equivalents means this mutant; spaces around lines do not count."""
    return (mutant.file, mutant.old.strip(), mutant.new.strip()) == (entry["file"], entry["old"], entry["new"])


def drawn(texts: dict[str, str], number: int, seed: int) -> list[Mutant]:
    """Return mutants of this package; the same number and seed give the same."""
    text = json.dumps([texts, number, seed], sort_keys=True)
    path = WORK / f"mutants-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        save(draw(texts, number, seed, Copy(WORK / "copy-0")), path)
    return load(path)


def judge_all(mutants: list[Mutant], suite: Path, reach: Reach, jobs: int) -> list[Result]:
    """Judge mutants in copies side by side; each result is kept in a file, and its mutant not judged again."""
    path = WORK / f"results-{reach.key}.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {Mutant.of(result): result for result in done}
    waiting = [mutant for mutant in dict.fromkeys(mutants) if mutant not in known]
    copies = [Copy(WORK / f"copy-{number}", suite) for number in range(min(jobs, len(waiting)))]
    idle: queue.Queue[Copy] = queue.Queue()
    for copy in copies:
        idle.put(copy)

    def work(mutant: Mutant) -> Result:
        copy = idle.get()
        began = time.monotonic()
        try:
            return {**asdict(mutant), **judge(mutant, copy, reach), "seconds": round(time.monotonic() - began, 1)}
        finally:
            idle.put(copy)

    with ThreadPoolExecutor(max(1, len(copies))) as pool, open(path, "a") as kept:
        futures = [pool.submit(work, mutant) for mutant in waiting]
        try:
            for future in tqdm(as_completed(futures), "mutants", len(mutants), initial=len(mutants) - len(waiting)):
                result = future.result()
                known[Mutant.of(result)] = result
                kept.write(json.dumps(result) + "\n")
                kept.flush()
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for copy in copies:
                copy.end_processes()
            raise
    return [known[mutant] for mutant in mutants]


def report(results: list[Result]) -> str:
    """Return what was killed by the tests of each target, in all and by room, in which ways, and what survived."""
    lines = [f"{'killed by':20}{'make check':>12}{'make test':>12}"]
    for room in ["all", *sorted({Mutant.of(result).room for result in results})]:
        chosen = [result for result in results if room in ("all", Mutant.of(result).room)]
        counts = [f"{sum(result[target] for result in chosen)}/{len(chosen)}" for target in ("check", "test")]
        lines.append(f"{room:20}{counts[0]:>12}{counts[1]:>12}")
    # By a test that failed, unless `by` is "crash", "processor time" or "hung".
    ways = Counter(
        "assertion or error" if "::" in result["by"] else result["by"] for result in results if result["test"]
    )
    lines.append("killed by " + ", ".join(f"{way}: {count}" for way, count in ways.most_common()))
    for result in results:
        if not result["test"]:
            changes = "\n".join(f"    {sign} {text}" for sign, text in (("-", result["old"]), ("+", result["new"])))
            what = f"{result['tests']} tests{'' if result['executed'] else ', of which none executes it'}"
            lines.append(f"survived {what}: {result['file']}:{result['line']}\n{changes}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
