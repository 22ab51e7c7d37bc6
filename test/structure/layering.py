# SPDX-License-Identifier: Apache-2.0
"""Reads every #include and fails where one goes against the floors of the house. The tables are the documentation.

A room includes headers of lower floors only; rooms of one floor never include each other. That keeps every room
testable alone, and keeps each outside library and each kind of system call in the one room that knows its quirks.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tree  # noqa: E402

# room: (floor, the rooms whose internal headers it may include). What it may include is less than all lower floors
# where that keeps a promise: event, process, profile and report are pure, symbol does not know recordings.
ROOMS = {
    "base":     (0, []),
    "event":    (1, ["base"]),
    "os":       (2, ["base", "event"]),
    "perfdata": (2, ["base", "event"]),
    "object":   (2, ["base", "event"]),
    "process":  (2, ["base", "event"]),
    "unwind":   (3, ["base", "event", "object", "process"]),
    "symbol":   (3, ["base", "event", "object", "os"]),
    "profile":  (4, ["base", "event", "process", "perfdata"]),
    "recorder": (5, ["base", "event", "os", "perfdata", "object", "process", "unwind", "symbol", "profile"]),
    "report":   (5, ["base", "event", "profile"]),
}
TOOLS_FLOOR = 6
# The only internal headers the tool sees: the seam to the kernel, and the base room.
TOOLS_MAY_INCLUDE = re.compile(r"(ksamp|tools)/.*|lib/os/perf_kernel\.h|lib/base/.*")

# A public header belongs to a floor as well; a room may include those of its own room and of lower floors.
PUBLIC_HEADERS = {
    "address.h": "base", "export.h": "base", "image.h": "base", "source_lines.h": "base", "version.h": "base",
    "event_spec.h": "event", "record.h": "event",
    "perf_data.h": "perfdata",
    "symbolizer.h": "symbol",
    "profile.h": "profile",
    "sample_stream.h": "profile",
    "recorder.h": "recorder", "counters.h": "recorder",
    "check.h": "recorder",
    "recover.h": "recorder",
    "report.h": "report",
    "dump.h": "report",
}
# What stands in a public header compiles in the user's program: nothing but the standard library and Status.
PUBLIC_MAY_INCLUDE = re.compile(r"ksamp/.*|absl/status/status(or)?\.h|sys/types\.h|[a-z_]+")

# Outside headers with one home. (headers, places, why)
HOMES = [
    (r"libelf\.h|gelf\.h|dwarf\.h|elfutils/.*", ["lib/object"], "ELF and DWARF are read by lib/object"),
    (r"capstone/.*", ["lib/object"], "lib/object disassembles"),
    (r"libunwind.*", ["lib/unwind"], "lib/unwind unwinds"),
    (r"zstd\.h|zstd_errors\.h|lzma\.h|zlib\.h", ["lib/base"], "lib/base decompresses"),
    (r"CLI/.*", ["tools"], "only the tool parses command lines"),
    (r"(n?curses)(w)?\.h|ncursesw?/.*", ["tools"], "only the tool draws on terminals"),
    (r"google/protobuf/.*|.*\.pb\.h", ["lib/report"], "lib/report exports"),
    (r"nlohmann/.*", ["lib/report", "tools"], "lib/report and the tool write JSON"),
    (r"gtest/.*|gmock/.*", [], "GoogleTest stays in test/"),
    (r"benchmark/.*", [], "Google Benchmark stays in bench/"),
]

# Words of code with one home.
WORDS = [
    (r"\bstd::(cout|cerr|clog)\b|\b(printf|puts|perror|putchar)\s*\(|\bfprintf\s*\(\s*std(out|err)\b",
     ["tools"], "the library prints nothing: it returns a status, or writes to the stream it was given"),
    (r"\bperf_event_open\b|\bioctl\s*\(|\bsyscall\s*\(", ["lib/os"], "perf events are asked for through PerfKernel"),
]

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def floor_problem(place, header):
    """Why a file at `place` (parts of its path) may not include the project's `header`; None: it may."""
    target = header.split("/")
    if place[0] == "include":
        return None if PUBLIC_MAY_INCLUDE.fullmatch(header) else "public headers include each other, std and absl status"
    if place[0] == "tools":
        own = target[0] in ("lib", "tools", "ksamp")
        return None if not own or TOOLS_MAY_INCLUDE.fullmatch(header) else "tools see ksamp/, lib/base and the kernel seam"
    if place[0] == "examples":
        return "examples use include/ksamp only" if target[0] in ("lib", "tools", "test") else None
    if place[0] != "lib":
        return None
    room = place[1]
    if room not in ROOMS:
        return f"room {room} has no floor: add it to ROOMS"
    if target[0] in ("tools", "test", "bench"):
        return f"lib/ includes nothing of {target[0]}/"
    if target[0] == "lib":
        other = target[1]
        return None if other == room or other in ROOMS[room][1] else f"{room} may include {', '.join(ROOMS[room][1]) or 'no other room'}"
    if target[0] == "ksamp":
        owner = PUBLIC_HEADERS.get(target[1])
        if owner is None:
            return f"public header {header} has no room: add it to PUBLIC_HEADERS"
        lower = ROOMS[owner][0] < ROOMS[room][0]
        return None if owner == room or lower else f"{header} belongs to {owner}, which is not below {room}"
    return None


def home_problem(place, header):
    if place[0] not in ("include", "lib", "tools", "examples"):
        return None
    here = "/".join(place)
    for pattern, homes, why in HOMES:
        if re.fullmatch(pattern, header) and not any(here.startswith(home + "/") for home in homes):
            return why
    return None


def check_file(root, path):
    place = path.relative_to(root).parts
    text = path.read_text(errors="replace")
    for number, _, header in includes(tree.code_lines(text, keep_strings=True)):
        where = f"{'/'.join(place)}:{number}: includes {header}: "
        if header.startswith("../") or "/../" in header:
            yield where + "paths start at the root of the tree, never with ../"
            continue
        problem = floor_problem(place, header) or home_problem(place, header)
        if problem:
            yield where + problem
    if place[0] not in ("include", "lib"):
        return
    here = "/".join(place)
    for number, line in enumerate(tree.code_lines(text), 1):
        for pattern, homes, why in WORDS:
            match = re.search(pattern, line)
            if match and not any(here.startswith(home + "/") for home in homes):
                yield f"{here}:{number}: uses {match.group(0).strip()}: {why}"


def check(root):
    problems = []
    for path in tree.files(root, tree.SOURCE_FOLDERS, tree.CXX_SUFFIXES):
        problems += check_file(root, path)
    return problems


if __name__ == "__main__":
    tree.main("layering", check)
