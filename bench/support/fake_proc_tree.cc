// SPDX-License-Identifier: Apache-2.0
#include "bench/support/fake_proc_tree.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ksamp::bench {
namespace {

[[noreturn]] void Give(const std::string& what) {
  std::perror(what.c_str());
  std::abort();
}

void Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text)) Give("write " + path);
}

// The four mappings of an image, as the linker of today lays it out.
void AppendImage(const std::string& path, uint64_t start, unsigned inode, std::string* out) {
  struct Part {
    const char* protection;
    uint64_t offset, size;
  };
  constexpr Part kParts[] = {{"r--p", 0, 0x26000},
                             {"r-xp", 0x26000, 0x156000},
                             {"r--p", 0x17c000, 0x53000},
                             {"rw-p", 0x1cf000, 0x6000}};
  for (const Part& part : kParts) {
    char line[128];
    std::snprintf(line, sizeof(line), "%llx-%llx %s %08llx fe:00 %u                     ",
                  static_cast<unsigned long long>(start + part.offset),
                  static_cast<unsigned long long>(start + part.offset + part.size), part.protection,
                  static_cast<unsigned long long>(part.offset), inode);
    *out += line + path + "\n";
  }
}

}  // namespace

FakeProcTree::FakeProcTree(const FakeProcOptions& options) {
  std::string folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  folder += "/ksamp-bench-proc.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) Give("mkdtemp " + folder);
  root_ = folder;
  for (int process = 0; process < options.processes; ++process) {
    const std::string pid = std::to_string(process + 1),
                      exe = "/usr/bin/program" + std::to_string(process % 100);
    std::filesystem::create_directories(root_ + "/" + pid + "/task/" + pid);
    Write(root_ + "/" + pid + "/task/" + pid + "/comm", "program\n");
    if (symlink(exe.c_str(), (root_ + "/" + pid + "/exe").c_str()) != 0) Give("symlink " + exe);
    std::string maps;
    AppendImage(exe, 0x5591'9150'b000, 1000 + static_cast<unsigned>(process % 100), &maps);
    for (int i = 0; i < options.libraries; ++i) {
      const int image = (process * 7 + i) % options.images;
      AppendImage("/usr/lib/x86_64-linux-gnu/libexample" + std::to_string(image) + ".so.1.2.3",
                  0x7fda'0000'0000 + 0x20'0000 * static_cast<uint64_t>(i),
                  2000 + static_cast<unsigned>(image), &maps);
    }
    Write(root_ + "/" + pid + "/maps", maps);
  }
}

FakeProcTree::~FakeProcTree() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

}  // namespace ksamp::bench
