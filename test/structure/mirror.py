# SPDX-License-Identifier: Apache-2.0
"""Fails where a source of lib/ has no test file, a test file has no source, or a test file is not built.

lib/ROOM/x.cc is tested by test/ROOM/x_test.cc (as is test/support/x.cc, in the room it serves): whoever changes the one knows where the other is, and a file nobody
tests is seen. x.h without x.cc may have a test, and needs none: its users test it.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tree  # noqa: E402

# path: why it has no counterpart.
EXCEPTIONS = {
}


def check(root):
    problems = []
    rooms = sorted(p.name for p in (root / "lib").iterdir() if p.is_dir())
    for room in rooms:
        problems += check_room(root, room)
    for path, reason in EXCEPTIONS.items():
        if not (root / path).exists():
            problems.append(f"{path}: listed as an exception ({reason}), but it does not exist")
    return problems


def check_room(root, room):
    for source in tree.files(root, [f"lib/{room}"], {".cc"}):
        name = source.relative_to(root)
        test = root / "test" / room / f"{source.stem}_test.cc"
        if not test.exists() and str(name) not in EXCEPTIONS:
            yield f"{name}: has no {test.relative_to(root)}"
    build_file = root / "test" / room / "CMakeLists.txt"
    built = set(re.findall(r"[\w./-]+", re.sub(r"#.*", "", build_file.read_text()))) if build_file.exists() else set()
    for test in tree.files(root, [f"test/{room}"], {".cc"}):
        name = test.relative_to(root)
        if not test.stem.endswith("_test"):
            continue
        stem = test.stem.removesuffix("_test")
        has_source = any((root / home / f"{stem}{suffix}").exists()
                         for home in (f"lib/{room}", "test/support") for suffix in (".cc", ".h"))
        if not has_source and str(name) not in EXCEPTIONS:
            yield f"{name}: has no lib/{room}/{stem}.cc or .h"
        if test.name not in built:
            yield f"{name}: is not in test/{room}/CMakeLists.txt, so it never runs"


if __name__ == "__main__":
    tree.main("mirror", check)
