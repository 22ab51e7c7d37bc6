# SPDX-License-Identifier: Apache-2.0
"""The structure checks, checked: each finds its violation in a small broken tree, and nothing in a tree in order."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import layering  # noqa: E402
import licence  # noqa: E402
import mirror  # noqa: E402
import one_definition  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


class TreeTest(unittest.TestCase):
    def problems(self, check, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(Path(folder))


class LayeringTest(TreeTest):
    def one(self, name, text, expected):
        """`text` in a file `name` gives exactly one problem, on its line, containing `expected`."""
        problems = self.problems(layering.check, {name: text})
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(name + ":1: ", problems[0])
        self.assertIn(expected, problems[0])

    def test_order_is_silent(self):
        self.assertEqual(self.problems(layering.check, {
            "lib/base/a.cc": '#include <zstd.h>\n#include "lib/base/a.h"\n',
            "lib/object/a.cc": '#include <gelf.h>\n#include "ksamp/address.h"\n#include "lib/base/a.h"\n',
            "lib/profile/a.cc": '#include "ksamp/profile.h"\n#include "ksamp/symbolizer.h"\n#include "lib/process/p.h"\n',
            "lib/os/a.cc": "int f() { return ioctl(1, 2); }\n",
            "lib/report/a.cc": '// std::cout << "never"\nconst char* s = "std::cerr ioctl(";\nvoid f() { snprintf(0, 0, ""); }\n',
            "include/ksamp/perf_data.h": '#include <vector>\n#include "absl/status/statusor.h"\n#include "ksamp/record.h"\n',
            "tools/a.cc": '#include <CLI/App.hpp>\n#include "lib/os/perf_kernel.h"\n#include "lib/base/a.h"\nauto& o = std::cout;\n',
            "test/os/a_test.cc": '#include <gtest/gtest.h>\n#include "lib/report/r.h"\n',
        }), [])

    def test_higher_floor(self):
        self.one("lib/event/a.cc", '#include "lib/os/ring_reader.h"\n', "event may include base")

    def test_same_floor(self):
        self.one("lib/process/a.cc", '#include "lib/object/elf_image.h"\n', "process may include")

    def test_public_header_of_a_higher_floor(self):
        self.one("lib/symbol/a.cc", '#include "ksamp/profile.h"\n', "belongs to profile")

    def test_public_header_of_the_same_floor(self):
        self.one("lib/report/a.cc", '#include "ksamp/recorder.h"\n', "belongs to recorder")

    def test_unknown_room_and_header(self):
        self.one("lib/attic/a.cc", '#include "lib/base/a.h"\n', "has no floor")
        self.one("lib/base/a.cc", '#include "ksamp/new.h"\n', "has no room")

    def test_library_includes_tool_or_test(self):
        self.one("lib/recorder/a.cc", '#include "tools/world.h"\n', "nothing of tools/")
        self.one("lib/recorder/a.cc", '#include "test/support/temp_tree.h"\n', "nothing of test/")

    def test_tool_includes_a_room(self):
        self.one("tools/a.cc", '#include "lib/report/text.h"\n', "tools see")

    def test_example_includes_a_room(self):
        self.one("examples/a.cc", '#include "lib/report/text.h"\n', "include/ksamp only")

    def test_public_header_shows_insides(self):
        for header in ("lib/base/text.h", "linux/perf_event.h", "libelf.h", "absl/container/flat_hash_map.h"):
            self.one("include/ksamp/record.h", f"#include <{header}>\n", "public headers include")

    def test_outside_headers_away_from_home(self):
        for header in ("gelf.h", "elfutils/libdw.h", "dwarf.h", "capstone/capstone.h", "libunwind.h", "CLI/App.hpp", "gtest/gtest.h"):
            self.one("lib/recorder/a.cc", f"#include <{header}>\n", f"includes {header}")
        self.one("lib/object/a.cc", "#include <zlib.h>\n", "lib/base decompresses")

    def test_relative_path(self):
        self.one("lib/base/a.cc", '#include "../event/a.h"\n', "never with ../")
        self.one("test/base/a.cc", '#include "../support/a.h"\n', "never with ../")

    def test_library_prints(self):
        for line in ('std::cerr << 1;', 'printf("x");', 'fprintf(stderr, "x");', 'perror("x");'):
            self.one("lib/report/a.cc", line + "\n", "prints nothing")

    def test_system_call_outside_os(self):
        for line in ("ioctl(fd, 1);", "syscall(298);", "int perf_event_open();"):
            self.one("lib/recorder/a.cc", line + "\n", "PerfKernel")


class MirrorTest(TreeTest):
    ORDER = {"lib/base/a.cc": "", "lib/base/h.h": "", "test/base/a_test.cc": "", "test/base/h_test.cc": "",
             "test/support/s.cc": "", "test/base/s_test.cc": "",
             "test/base/CMakeLists.txt": "ksamp_add_test(NAME base SRCS a_test.cc h_test.cc s_test.cc DEPS base)"}

    def test_order_is_silent(self):
        self.assertEqual(self.problems(mirror.check, self.ORDER), [])

    def test_source_without_test(self):
        self.assertEqual(self.problems(mirror.check, self.ORDER | {"lib/base/b.cc": ""}), ["lib/base/b.cc: has no test/base/b_test.cc"])

    def test_test_without_source(self):
        self.assertEqual(self.problems(mirror.check, self.ORDER | {
            "test/base/b_test.cc": "", "test/base/CMakeLists.txt": "SRCS a_test.cc b_test.cc h_test.cc s_test.cc"}),
            ["test/base/b_test.cc: has no lib/base/b.cc or .h"])

    def test_test_that_is_not_built(self):
        self.assertEqual(self.problems(mirror.check, self.ORDER | {"test/base/CMakeLists.txt": "SRCS h_test.cc s_test.cc # a_test.cc"}),
                         ["test/base/a_test.cc: is not in test/base/CMakeLists.txt, so it never runs"])


class OneDefinitionTest(TreeTest):
    def test_order_is_silent(self):
        self.assertEqual(self.problems(one_definition.check, {
            "lib/a/x.h": "namespace ksamp {\nstruct Plan {\n  int a;\n};\nclass Later;\n}  // namespace ksamp\n",
            "lib/b/x.h": "namespace ksamp::b {\nstruct Plan {\n  int b;\n};\n}\nnamespace ksamp {\nclass Later { };\n}\n",
            "lib/c/x.cc": "namespace ksamp {\nnamespace {\nstruct Plan { int c; };\n}\nstruct Outer {\nstruct Plan {};\n};\nstruct Later::State {\n};\n}\n",
        }), [])

    def test_two_of_one_name(self):
        problems = self.problems(one_definition.check, {
            "lib/a/x.h": "namespace ksamp {\nstruct Plan {\n};\n}\n",
            "tools/x.cc": "namespace ksamp {\n\nclass Plan final\n    : public Base {\n};\n}\n"})
        self.assertEqual(problems, ["tools/x.cc:3: ksamp::Plan is defined in lib/a/x.h:2 too"])


class LicenceTest(TreeTest):
    def test_order_is_silent(self):
        self.assertEqual(self.problems(licence.check, {
            "lib/base/a.cc": SPDX, "scripts/test": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n",
            "lib/CMakeLists.txt": "# SPDX-License-Identifier: Apache-2.0\n", "build/dev/x/CMakeLists.txt": ""}), [])

    def test_missing(self):
        for name in ("lib/base/a.cc", "include/ksamp/a.h", "test/fixtures/a.c", "scripts/test", "lib/base/CMakeLists.txt",
                     "cmake/A.cmake", "test/structure/a.py"):
            self.assertEqual(len(self.problems(licence.check, {name: "int x;\n"})), 1, name)

    def test_not_in_the_first_line(self):
        self.assertEqual(len(self.problems(licence.check, {"lib/base/a.cc": "\n" + SPDX})), 1)
        self.assertEqual(len(self.problems(licence.check, {"lib/base/a.cc": "// Copyright\n" + SPDX})), 1)


if __name__ == "__main__":
    unittest.main()
