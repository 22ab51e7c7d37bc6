#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a recorder costs, ksamp and perf in turn under the same load.

    record_cost.py --ksamp build/bench/tools/ksamp [--rounds 5] [--seconds 4] [--rate 10000]

Every round runs both, one after the other and in changing order, over the same load: one busy loop pinned to each CPU,
which outlives the recording. Each recorder is ended by SIGINT. Printed are medians over the rounds:

    cpu    CPU seconds of the recorder from start to exit (wait4), so describing processes and symbols counts
    ready  seconds from start until the first bytes of the recording are in its file
    stop   seconds from SIGINT to exit: the time to the prompt
    lost   samples the recorder says it lost, the most of any round
    bytes  of the file for each sample

Compare only numbers of one run: a shared machine changes from minute to minute. Use an optimised build.
"""
import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BUSY = "while True: pass"
LOST = re.compile(r"([\d ]+) lost")
SAMPLES = re.compile(r"([\d ]+) samples? in")
LOST_EVENTS = re.compile(r"LOST(?:_SAMPLES)? events: +(\d+)")
SAMPLE_EVENTS = re.compile(r"^ +SAMPLE events: +(\d+)", re.MULTILINE)


def start_load():
    load = []
    for cpu in sorted(os.sched_getaffinity(0)):
        process = subprocess.Popen([sys.executable, "-c", BUSY])
        os.sched_setaffinity(process.pid, {cpu})
        load.append(process)
    return load


def number(text):
    return int(text.replace(" ", ""))


def counts_of(tool, errors, path):
    """Samples and losses: ksamp's last line says both; perf's are counted in its file."""
    if tool == "ksamp":
        return number(SAMPLES.search(errors)[1]), number(LOST.search(errors)[1])
    stats = subprocess.run(["perf", "report", "--stats", "-i", path], capture_output=True, text=True, check=True).stdout
    return number(SAMPLE_EVENTS.search(stats)[1]), sum(int(lost) for lost in LOST_EVENTS.findall(stats))


def wait_for_data(path, process):
    begin = time.monotonic()
    while process.poll() is None and not (os.path.exists(path) and os.path.getsize(path) > 0):
        time.sleep(0.002)
    return time.monotonic() - begin


def measure(tool, program, options, seconds, path):
    for old in (path, path + ".old"):
        if os.path.exists(old):
            os.unlink(old)
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([program, "record", *options, "-o", path], stdout=errors, stderr=errors)
        ready = wait_for_data(path, process)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, status, usage = os.wait4(process.pid, 0)
        stop = time.monotonic() - begin
        process.returncode = status
        errors.seek(0)
        text = errors.read()
    samples, lost = counts_of(tool, text, path)
    return {"cpu": usage.ru_utime + usage.ru_stime, "ready": ready, "stop": stop, "samples": samples, "lost": lost,
            "bytes": os.path.getsize(path) / max(samples, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ksamp", required=True)
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rate", type=int, default=10000)
    parser.add_argument("--options", default="", help="more options for both, as one word: '-g'")
    args = parser.parse_args()
    options = ["-a", "-e", "cpu-clock", "-F", str(args.rate), *args.options.split()]
    tools = [("ksamp", args.ksamp), ("perf", args.perf)]
    results = {name: [] for name, _ in tools}
    load = start_load()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(args.rounds):
                for name, program in tools if turn % 2 == 0 else reversed(tools):
                    results[name].append(measure(name, program, options, args.seconds, os.path.join(folder, "x.data")))
    finally:
        for process in load:
            process.kill()
            process.wait()
    print(f"{'':8}{'cpu s':>8}{'ready s':>9}{'stop s':>8}{'samples':>9}{'lost':>7}{'bytes':>7}")
    for name, rounds in results.items():
        median = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
        print(f"{name:8}{median['cpu']:8.3f}{median['ready']:9.3f}{median['stop']:8.3f}{median['samples']:9.0f}"
              f"{max(one['lost'] for one in rounds):7d}{median['bytes']:7.1f}")


if __name__ == "__main__":
    main()
