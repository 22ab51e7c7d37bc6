// SPDX-License-Identifier: Apache-2.0
// SampleProfile: profiles written by hand, one line per counted address.
//
//   SampleProfile p;
//   uint32_t event = p.Event({.name = "cpu-clock", .clock = true, .period_or_frequency = 250689});
//   p.Count({.app = "bash"}, p.File("/usr/bin/bash"), p.Symbol("main", 0x1000), 0x1004, 12);
//   p.Unresolved({}, p.Module("[kvm]"), UnresolvedReason::kImageHasNoSymbols, 0xc0000050, 23);
//   p.profile()                  // entries sorted, conservation filled in
#ifndef KSAMP_TEST_REPORT_SAMPLE_PROFILE_H_
#define KSAMP_TEST_REPORT_SAMPLE_PROFILE_H_

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ksamp/profile.h"

namespace ksamp::testing {

// ProfileKey with names spelled out.
struct KeyText {
  uint32_t event = 0;
  std::string app, comm;  // empty: not separated
  uint32_t pid = kNone32, tid = kNone32, cpu = kNone32;
};

class SampleProfile {
 public:
  uint32_t Event(ProfileEvent event) {
    profile_.events.push_back(std::move(event));
    profile_.conservation.emplace_back();
    return static_cast<uint32_t>(profile_.events.size() - 1);
  }
  uint32_t Add(Image image) {
    profile_.images.push_back(std::move(image));
    return static_cast<uint32_t>(profile_.images.size() - 1);
  }
  uint32_t File(const std::string& path) { return Add({.path = path}); }
  uint32_t Kernel() { return Add({.kind = ImageKind::kKernel, .path = "vmlinux"}); }
  uint32_t Module(const std::string& path, uint64_t base = 0) {
    return Add({.kind = ImageKind::kModule, .path = path, .module_base = ProcessAddress(base)});
  }
  uint32_t Symbol(const std::string& name, uint64_t start, uint64_t size = 0x100) {
    profile_.symbols.push_back({name, kNone32, start, size});
    return static_cast<uint32_t>(profile_.symbols.size() - 1);
  }

  void Count(const KeyText& key, uint32_t image, uint32_t symbol, uint64_t address, uint64_t samples,
             std::optional<uint64_t> period = {}) {
    profile_.symbols[symbol].image = image;
    Add(key, {.image = image, .address = address, .elf = ElfAddress(address), .symbol = symbol}, samples,
        period);
  }
  void Unresolved(const KeyText& key, uint32_t image, UnresolvedReason reason, uint64_t address,
                  uint64_t samples) {
    const uint64_t base = profile_.images[image].module_base.value;  // 0 for all but modules
    Add(key, {.image = image, .address = address, .elf = ElfAddress(address - base), .reason = reason},
        samples, {});
  }

  // Frames of stacks; those on top of none have no samples of their own.
  uint32_t Frame(uint32_t image, const std::string& symbol, uint64_t address) {
    const uint32_t number = Symbol(symbol, address);
    profile_.symbols[number].image = image;
    return AddLocation({.image = image, .address = address, .elf = ElfAddress(address), .symbol = number});
  }
  uint32_t NamelessFrame(uint32_t image, UnresolvedReason reason, uint64_t address) {
    return AddLocation({.image = image, .address = address, .elf = ElfAddress(address), .reason = reason});
  }
  // Samples of one stack, the outermost frame first.
  void Stack(const KeyText& text, const std::vector<uint32_t>& frames, uint64_t samples,
             std::optional<uint64_t> period = {}) {
    uint32_t node = kNone32;
    for (const uint32_t frame : frames) node = Node(node, frame);
    const Counts counts{samples, period.value_or(samples * 1000)};
    const uint32_t key = Key(text);
    profile_.stacks.push_back({key, node, counts});
    CountEntry(key, frames.back(), counts);
  }

  Profile& profile() {
    std::sort(profile_.entries.begin(), profile_.entries.end(),
              [](const ProfileEntry& a, const ProfileEntry& b) {
                return std::pair(a.key, a.location) < std::pair(b.key, b.location);
              });
    std::sort(profile_.stacks.begin(), profile_.stacks.end(), [](const StackEntry& a, const StackEntry& b) {
      return std::pair(a.key, a.node) < std::pair(b.key, b.node);
    });
    return profile_;
  }

 private:
  uint32_t Name(const std::string& name) {
    if (name.empty()) return kNone32;
    auto& names = profile_.names;
    const auto at = std::find(names.begin(), names.end(), name) - names.begin();
    if (at == static_cast<std::ptrdiff_t>(names.size())) names.push_back(name);
    return static_cast<uint32_t>(at);
  }

  uint32_t AddLocation(const ProfileLocation& location) {
    profile_.locations.push_back(location);
    return static_cast<uint32_t>(profile_.locations.size() - 1);
  }

  uint32_t Node(uint32_t parent, uint32_t location) {
    auto& nodes = profile_.stack_nodes;
    for (uint32_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].parent == parent && nodes[i].location == location) return i;
    nodes.push_back({parent, location});
    return static_cast<uint32_t>(nodes.size() - 1);
  }

  void Add(const KeyText& text, const ProfileLocation& location, uint64_t samples,
           std::optional<uint64_t> period) {
    CountEntry(Key(text), AddLocation(location), {samples, period.value_or(samples * 1000)});
  }

  uint32_t Key(const KeyText& text) {
    const ProfileKey key{.event = text.event,
                         .app = Name(text.app),
                         .comm = Name(text.comm),
                         .pid = text.pid,
                         .tid = text.tid,
                         .cpu = text.cpu};
    auto& keys = profile_.keys;
    const auto at = std::find(keys.begin(), keys.end(), key) - keys.begin();
    if (at == static_cast<std::ptrdiff_t>(keys.size())) keys.push_back(key);
    return static_cast<uint32_t>(at);
  }

  void CountEntry(uint32_t key, uint32_t location, const Counts& counts) {
    const auto same = [&](const ProfileEntry& e) { return e.key == key && e.location == location; };
    const auto at = std::find_if(profile_.entries.begin(), profile_.entries.end(), same);
    if (at != profile_.entries.end()) {
      at->counts += counts;
    } else {
      profile_.entries.push_back({key, location, counts});
    }
    Conservation& sum = profile_.conservation[profile_.keys[key].event];
    sum.taken += counts.samples;
    sum.counted += counts.samples;
  }

  Profile profile_;
};

// The listing of a hypervisor: 100 000 samples of the CPU clock, one module without symbols, two
// applications.
inline Profile Hypervisor() {
  SampleProfile p;
  p.Event({.name = "cpu-clock", .clock = true, .period_or_frequency = 250689, .note = ""});
  const uint32_t kernel = p.Kernel(), module = p.Module("[kvm_intel]", 0xffffffffc0800000),
                 qemu = p.File("/usr/bin/qemu-kvm"), libc = p.File("/usr/lib/libc-2.12.so"),
                 bash = p.File("/usr/bin/bash");
  const uint32_t idle = p.Symbol("intel_idle", 0xffffffff81300000),
                 lock = p.Symbol("_raw_spin_lock", 0xffffffff81500000);
  p.Count({}, kernel, idle, 0xffffffff81300010, 14000);
  p.Count({}, kernel, idle, 0xffffffff81300020, 571);
  p.Count({}, kernel, lock, 0xffffffff81500004, 1000);
  p.Unresolved({}, module, UnresolvedReason::kImageHasNoSymbols, 0xffffffffc0800050, 23);
  p.Unresolved({}, module, UnresolvedReason::kImageHasNoSymbols, 0xffffffffc0800051, 54285);
  p.Count({.app = "qemu-kvm"}, qemu, p.Symbol("_ZN4main4loopEv", 0x4010), 0x4011, 29000);
  p.Count({.app = "qemu-kvm"}, libc, p.Symbol("memcpy", 0x9000), 0x9010, 1000);
  p.Unresolved({.app = "qemu-kvm"}, libc, UnresolvedReason::kBetweenSymbols, 0x100, 1);
  p.Count({.app = "bash"}, bash, p.Symbol("main", 0x2000), 0x2004, 120);
  p.profile().facts = {.file = "x.data",
                       .os_release = "6.1.0",
                       .cpu_desc = "Example CPU",
                       .cpus = 2,
                       .cpu_mhz = 2096,
                       .duration_ns = 10000000000};
  return p.profile();
}

// 100 samples of a program that recurses, in four images; one stack was cut, one began nowhere.
inline SampleProfile Calls() {
  SampleProfile p;
  p.Event({.name = "cpu-clock", .clock = true, .period_or_frequency = 250689, .has_stacks = true});
  const uint32_t app = p.File("/bin/app"), libc = p.File("/lib/libc.so.6"), kernel = p.Kernel(),
                 bare = p.File("/lib/bare.so"), none = p.Add({.kind = ImageKind::kUnknown, .path = ""});
  const uint32_t main = p.Frame(app, "main", 0x1000), walk = p.Frame(app, "_Z4walki", 0x1100),
                 copy = p.Frame(libc, "memcpy", 0x900),
                 fault = p.Frame(kernel, "page_fault", 0xffffffff81000000),
                 hidden = p.NamelessFrame(bare, UnresolvedReason::kImageHasNoSymbols, 0x10),
                 hidden_too = p.NamelessFrame(bare, UnresolvedReason::kImageHasNoSymbols, 0x20),
                 cut = p.NamelessFrame(none, UnresolvedReason::kStackTooDeep, 0);
  p.Stack({.comm = "app"}, {main}, 10);
  p.Stack({.comm = "app"}, {main, walk}, 5);
  p.Stack({.comm = "app"}, {main, walk, walk, walk}, 15);
  p.Stack({.comm = "app"}, {main, walk, copy}, 20);
  p.Stack({.comm = "app"}, {main, walk, walk, copy, fault}, 30);
  p.Stack({.comm = "app"}, {cut, walk, copy}, 8);
  p.Stack({.comm = "io;loop"}, {hidden, hidden_too, copy}, 12);
  p.profile();
  return p;
}

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_REPORT_SAMPLE_PROFILE_H_
