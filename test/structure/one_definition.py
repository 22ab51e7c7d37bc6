# SPDX-License-Identifier: Apache-2.0
"""Fails where two files define a type of the same full name.

All rooms are linked into one library and share the namespace ksamp. Two types of one name compile and link without a
word, and the linker keeps one of their inline members for both: memory is overwritten where they differ.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import tree  # noqa: E402

_NAMESPACE = re.compile(r"(?:inline )?namespace\s*([\w:]*)\s*\{")
_TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?)\s+(?:KSAMP_EXPORT\s+)?(\w+)\b(?!::|[^{]*;)")


def check(root):
    places = {}
    for path in tree.files(root, ["include", "lib", "tools"], {".h", ".cc"}):
        for line, name in types(path.read_text()):
            places.setdefault(name, []).append(f"{path.relative_to(root)}:{line}")
    return [f"{places[name][1]}: {name} is defined in {places[name][0]} too"
            for name in sorted(places) if len(places[name]) > 1]


def types(text):
    """(line, full name) of each type defined at namespace scope, outside unnamed namespaces."""
    scopes = []  # (depth inside, name) of the open namespaces
    depth = 0
    for number, line in enumerate(tree.code_lines(text), 1):
        opened = _NAMESPACE.match(line)
        if opened:
            scopes.append((depth + 1, opened.group(1)))
        at_namespace = depth == (scopes[-1][0] if scopes else 0)
        found = _TYPE.match(line)
        if found and at_namespace and all(name for _, name in scopes):
            yield number, "::".join([name for _, name in scopes] + [found.group(1)])
        depth += line.count("{") - line.count("}")
        while scopes and depth < scopes[-1][0]:
            scopes.pop()


if __name__ == "__main__":
    tree.main("one_definition", check)
