#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading a recording: ksamp report against perf report and against the floor, in turn in one run.

  report_vs_perf.py --ksamp build/bench/tools/ksamp --walk build/bench/bench/profile/walk_headers FILE...

For each FILE one unmeasured turn, then TURNS measured ones; a turn runs each reader once. Shown are the median
and the range of the wall times, the median of the CPU times, how many times as long as ksamp (median of the
ratios of each turn: what the machine does beside hits all readers of a turn alike), and the peak resident
memory, in all and beyond FILE's own size: all three map the file.
"""
import argparse
import os
import statistics
import subprocess
import time


def run(command):
    """Wall seconds, CPU seconds, peak MiB of one run; its output is thrown away."""
    begin = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(path, readers, turns):
    results = {name: [] for name in readers}
    for turn in range(turns + 1):
        for name, command in readers.items():
            result = run(command + [path])
            if turn > 0:
                results[name].append(result)
    size = os.path.getsize(path) / 2**20
    print(f"{path}: {size:.1f} MiB, {turns} turns")
    print(f"  {'reader':<28}{'wall s':>8}{'range':>16}{'CPU s':>8}{'/ ksamp':>9}{'peak MiB':>10}{'beyond file':>13}")
    ours = [wall for wall, _, _ in results["ksamp report -l"]]
    for name, rows in results.items():
        walls = [wall for wall, _, _ in rows]
        cpu = statistics.median(cpu for _, cpu, _ in rows)
        ratio = statistics.median(wall / own for wall, own in zip(walls, ours))
        peak = max(rss for _, _, rss in rows)
        spread = f"{min(walls):.3f}-{max(walls):.3f}"
        print(f"  {name:<28}{statistics.median(walls):>8.3f}{spread:>16}{cpu:>8.3f}{ratio:>9.2f}{peak:>10.1f}"
              f"{max(0, peak - size):>13.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--record", nargs="+", metavar=("FILE", "COMMAND"),
                        help="first record COMMAND system-wide into FILE with perf, 49999 Hz, flat; read it too")
    parser.add_argument("--ksamp", default="ksamp")
    parser.add_argument("--walk", help="the program walk_headers")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    files = list(options.files)
    if options.record:
        file, *command = options.record
        subprocess.run([options.perf, "record", "-a", "-e", "cpu-clock", "-F", "49999", "-m", "2048",
                        "-o", file, "--", *command], check=True)
        files.append(file)
    readers = {"ksamp report -l": [options.ksamp, "report", "-l", "-i"],
               "perf report --stdio": [options.perf, "report", "--stdio", "-i"]}
    if options.walk:
        readers["walk_headers"] = [options.walk]
    for file in files:
        compare(file, readers, options.turns)


if __name__ == "__main__":
    main()
