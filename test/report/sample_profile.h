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

  Profile& profile() {
    std::sort(profile_.entries.begin(), profile_.entries.end(),
              [](const ProfileEntry& a, const ProfileEntry& b) {
                return std::pair(a.key, a.location) < std::pair(b.key, b.location);
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

  void Add(const KeyText& text, const ProfileLocation& location, uint64_t samples,
           std::optional<uint64_t> period) {
    const ProfileKey key{.event = text.event,
                         .app = Name(text.app),
                         .comm = Name(text.comm),
                         .pid = text.pid,
                         .tid = text.tid,
                         .cpu = text.cpu};
    auto& keys = profile_.keys;
    const auto at = std::find(keys.begin(), keys.end(), key) - keys.begin();
    if (at == static_cast<std::ptrdiff_t>(keys.size())) keys.push_back(key);
    profile_.locations.push_back(location);
    profile_.entries.push_back({static_cast<uint32_t>(at),
                                static_cast<uint32_t>(profile_.locations.size() - 1),
                                {samples, period.value_or(samples * 1000)}});
    profile_.conservation[text.event].taken += samples;
    profile_.conservation[text.event].counted += samples;
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

}  // namespace ksamp::testing

#endif  // KSAMP_TEST_REPORT_SAMPLE_PROFILE_H_
