# SPDX-License-Identifier: Apache-2.0
"""Fails where a source file does not name its licence in the first line (the second, after #! or an XML header)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tree  # noqa: E402

TAG = "SPDX-License-Identifier: Apache-2.0"
COMMENT = {"//": {".h", ".cc", ".c", ".rs", ".S", ".in"}, "#": {".py", ".sh", ".cmake", ".txt", ".yaml", ""}}
SUFFIXES = {".h", ".cc", ".c", ".rs", ".S", ".py", ".sh", ".cmake"}


def tagged(lines, comment):
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    return bool(lines) and lines[0].strip() in (f"{comment} {TAG}", f"/* {TAG} */")


def sources(root):
    yield from tree.files(root, tree.SOURCE_FOLDERS + ("cmake", "scripts", "third_party"), SUFFIXES)
    for path in sorted(root.rglob("CMakeLists.txt")):
        if "build" not in path.relative_to(root).parts:
            yield path
    for folder in ("scripts", ".ci"):
        for path in sorted((root / folder).glob("*")):
            if path.is_file() and not path.suffix:
                yield path


def check(root):
    problems = []
    for path in sources(root):
        comment = next(c for c, suffixes in COMMENT.items() if path.suffix in suffixes)
        lines = path.read_text(errors="replace").split("\n", 2)[:2]
        if not tagged(lines, comment):
            problems.append(f"{path.relative_to(root)}: the first line is not '{comment} {TAG}'")
    return problems


if __name__ == "__main__":
    tree.main("licence", check)
