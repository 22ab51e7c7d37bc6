# SPDX-License-Identifier: Apache-2.0
"""What the structure checks share: walking the tree, reading sources without their comments, reporting."""

import re
import sys
from pathlib import Path

SOURCE_FOLDERS = ("include", "lib", "tools", "test", "bench", "examples")
CXX_SUFFIXES = {".h", ".cc", ".c", ".in"}


def files(root, folders, suffixes):
    """Files below root/folder with one of the suffixes, sorted; folders named build, data or corpus are left out."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            parts = path.relative_to(root).parts
            if path.is_file() and path.suffix in suffixes and not {"build", "data", "corpus", "__pycache__"} & set(parts):
                yield path


_COMMENT_OR_STRING = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL)


def code_lines(text, keep_strings=False):
    """The lines of a C++ file with comments (and, unless kept, string contents) blanked; line numbers stay."""
    def blank(match):
        token = match.group(0)
        if not token.startswith("/") and keep_strings:
            return token
        return re.sub(r"[^\n]", " ", token)
    return _COMMENT_OR_STRING.sub(blank, text).split("\n")


def report(name, problems):
    """Prints the problems and exits: 0 when there are none."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem(s)" if problems else f"{name}: in order")
    sys.exit(1 if problems else 0)


def main(name, check):
    if len(sys.argv) != 2:
        print(f"usage: {name}.py ROOT_OF_THE_TREE")
        sys.exit(64)
    report(name, check(Path(sys.argv[1])))
