#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines and inlined calls: our reader against llvm-symbolizer, addr2line and eu-addr2line, in turn in one run.

  symbols_vs_llvm.py --ours build/bench/bench/object/source_frames ELF [--addresses 10000] [--stretches 300]

Two questions: random addresses of all of .text, and as many within a few hundred stretches of it, as a recording has
them. For each one unmeasured turn, then TURNS measured ones; a turn runs each reader once, start included. Shown are
the median and range of the wall times, how many times as long as ours (median of the ratios of each turn), the peak
resident memory, and how many answers are llvm-symbolizer's in every file, line and depth.
"""
import argparse
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time


def run(command, questions, answers):
    begin = time.monotonic()
    with open(questions) as asked, open(answers, "w") as out:
        process = subprocess.Popen(command, stdin=asked, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_maxrss / 1024


def text_section(elf):
    for line in subprocess.run(["readelf", "-SW", elf], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.replace("[ ", "[").split()
        if len(fields) > 6 and fields[1] == ".text":
            return int(fields[3], 16), int(fields[5], 16)
    raise SystemExit(f"{elf}: no .text")


def places(path):
    """Of each answer the places of its frames, without columns; nothing where no line is known."""
    blocks, block = [], []
    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        if line:
            block.append(line)
        else:
            found = [place.rsplit(":", 1)[0] for place in block[1::2]]
            blocks.append([] if len(found) == 1 and found[0].endswith(":0") else found)
            block = []
    return blocks


def compare(elf, name, addresses, readers, turns):
    with tempfile.TemporaryDirectory() as folder:
        questions = os.path.join(folder, "addresses")
        with open(questions, "w") as out:
            out.writelines(f"0x{address:x}\n" for address in addresses)
        results = {reader: [] for reader in readers}
        for turn in range(turns + 1):
            for reader, command in readers.items():
                result = run(command, questions, os.path.join(folder, reader.split()[0]))
                if turn > 0:
                    results[reader].append(result)
        print(f"{elf}: {len(addresses)} addresses {name}, {turns} turns")
        print(f"  {'reader':<18}{'wall s':>9}{'range':>18}{'/ ours':>9}{'peak MiB':>10}")
        ours = [wall for wall, _ in results["ours"]]
        for reader, rows in results.items():
            walls = [wall for wall, _ in rows]
            ratio = statistics.median(wall / own for wall, own in zip(walls, ours))
            print(f"  {reader:<18}{statistics.median(walls):>9.3f}{min(walls):>9.3f}-{max(walls):.3f}"
                  f"{ratio:>12.1f}{max(rss for _, rss in rows):>10.0f}")
        if "llvm-symbolizer" in readers:
            mine, theirs = (places(os.path.join(folder, reader)) for reader in ("ours", "llvm-symbolizer"))
            same = sum(a == b for a, b in zip(mine, theirs))
            print(f"  {same} of {len(theirs)} answers are llvm-symbolizer's")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("elf", metavar="ELF")
    parser.add_argument("--ours", required=True, help="the program source_frames")
    parser.add_argument("--addresses", type=int, default=10000)
    parser.add_argument("--stretches", type=int, default=300, help="of 4 KiB, for the second question")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--slow", action="store_true", help="addr2line and eu-addr2line too")
    options = parser.parse_args()
    llvm = shutil.which("llvm-symbolizer-14") or shutil.which("llvm-symbolizer")
    readers = {"ours": [options.ours, options.elf, "1"], "ours, 2 threads": [options.ours, options.elf, "2"]}
    if llvm:
        readers["llvm-symbolizer"] = [llvm, "--inlines", "--no-demangle", f"--obj={options.elf}"]
    if options.slow:
        readers["addr2line"] = ["addr2line", "-f", "-i", "-e", options.elf]
        readers["eu-addr2line"] = ["eu-addr2line", "-f", "-i", "-e", options.elf]
    begin, size = text_section(options.elf)
    random.seed(1)
    everywhere = [begin + random.randrange(size) for _ in range(options.addresses)]
    stretches = [random.randrange(size) & ~0xfff for _ in range(options.stretches)]
    few = [begin + min(size - 1, random.choice(stretches) + random.randrange(4096)) for _ in range(options.addresses // 3)]
    compare(options.elf, "of all of .text", everywhere, readers, options.turns)
    compare(options.elf, f"in {options.stretches} stretches", few, readers, options.turns)


if __name__ == "__main__":
    main()
