// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "ksamp/profile.h"
#include "test/profile/profile_rows.h"
#include "test/profile/stack_rows.h"

namespace ksamp {
namespace {

using ::ksamp::testing::ExpectConserved;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Symbols of 0x100 bytes by image path; what is not covered has a reason.
class TableSymbolizer : public Symbolizer {
 public:
  std::map<std::string, std::map<uint64_t, std::string>> symbols;  // path -> start / 0x100 -> name
  std::map<std::string, UnresolvedReason> reasons;
  std::map<std::string, std::vector<uint64_t>> asked;

  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> addresses) override {
    std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_TRUE(std::is_sorted(addresses.begin(), addresses.end()));
    asked[image.path].assign(addresses.begin(), addresses.end());
    ImageSymbols found;
    found.notes = {"looked at " + image.path, "said once"};
    std::map<uint64_t, uint32_t> numbers;
    for (const uint64_t address : addresses) {
      ResolvedAddress resolved{.symbol = {}, .elf = ElfAddress(address + 0x1000)};
      const auto& names = symbols[image.path];
      if (const auto name = names.find(address / 0x100); name != names.end()) {
        const auto [it, added] =
            numbers.try_emplace(address / 0x100, static_cast<uint32_t>(found.symbols.size()));
        if (added) found.symbols.push_back({name->second, address / 0x100 * 0x100, 0x100});
        resolved.symbol = it->second;
      } else {
        const auto reason = reasons.find(image.path);
        resolved.reason = reason == reasons.end() ? UnresolvedReason::kBetweenSymbols : reason->second;
      }
      found.addresses.push_back(resolved);
    }
    return found;
  }

 private:
  std::mutex mutex_;
};

Image Named(ImageKind kind, const std::string& path) {
  Image image;
  image.kind = kind;
  image.path = path;
  return image;
}

// Kernel at 0x…, a file, an unknown image; key 0: work, key 1: the idle task.
Profile ThreeImages() {
  Profile profile;
  profile.events = {{.name = "cpu-clock", .clock = true, .note = {}}};
  profile.names = {"app"};
  profile.images = {Named(ImageKind::kKernel, "vmlinux"), Named(ImageKind::kFile, "/bin/app"),
                    Named(ImageKind::kUnknown, "unknown")};
  profile.keys = {{}, {.idle_task = true}, {.app = 0}};
  profile.locations = {{.image = 0, .address = 0x110},
                       {.image = 0, .address = 0x120},
                       {.image = 0, .address = 0x250},
                       {.image = 1, .address = 0x130},
                       {.image = 1, .address = 0x910},
                       {.image = 2, .address = 0x5, .reason = UnresolvedReason::kNoMapping},
                       {.address = 0x6, .reason = UnresolvedReason::kHypervisor}};
  profile.entries = {{0, 0, {1, 10}}, {0, 2, {2, 20}}, {1, 0, {3, 30}}, {1, 1, {4, 40}}, {1, 2, {5, 50}},
                     {2, 3, {6, 60}}, {2, 4, {7, 70}}, {2, 5, {8, 80}}, {2, 6, {9, 90}}};
  profile.conservation = {{.taken = 45, .counted = 45, .filtered = {}, .dropped = {}}};
  return profile;
}

TEST(SymbolizeProfileTest, EachAddressGetsItsSymbolOrAReason) {
  Profile profile = ThreeImages();
  TableSymbolizer symbolizer;
  symbolizer.symbols = {{"vmlinux", {{1, "tcp_rcv"}, {2, "udp_rcv"}}}, {"/bin/app", {{1, "main"}}}};
  Symbolize(profile, symbolizer, {.threads = 2});
  ExpectConserved(profile, 45);
  const auto name = [&](size_t location) {
    const uint32_t symbol = profile.locations[location].symbol;
    return symbol == kNone32 ? std::string("-") : profile.symbols[symbol].name;
  };
  EXPECT_EQ(name(0), "tcp_rcv");
  EXPECT_EQ(profile.locations[0].symbol, profile.locations[1].symbol) << "one symbol is one number";
  EXPECT_EQ(name(2), "udp_rcv");
  EXPECT_EQ(name(3), "main");
  EXPECT_EQ(name(4), "-");
  EXPECT_EQ(profile.symbols.size(), 3u);
  EXPECT_EQ(profile.symbols[profile.locations[3].symbol].image, 1u);
  EXPECT_EQ(profile.locations[3].elf.value, 0x1130u);
  EXPECT_EQ(profile.locations[4].reason, UnresolvedReason::kBetweenSymbols);
  EXPECT_EQ(profile.locations[5].reason, UnresolvedReason::kNoMapping);
  EXPECT_EQ(profile.locations[6].reason, UnresolvedReason::kHypervisor);
  EXPECT_EQ(symbolizer.asked.count("unknown"), 0u);
  EXPECT_THAT(symbolizer.asked["vmlinux"], ElementsAre(0x110, 0x120, 0x250));
  EXPECT_THAT(profile.facts.notes, ElementsAre("looked at vmlinux", "said once", "looked at /bin/app"));
}

TEST(SymbolizeProfileTest, HaltedCpusAreIdleAndOtherWorkOfTheIdleTaskIsWork) {
  Profile profile = ThreeImages();
  TableSymbolizer symbolizer;
  symbolizer.symbols = {{"vmlinux", {{1, "default_idle"}, {2, "net_rx_action"}}}};
  Symbolize(profile, symbolizer);
  ExpectConserved(profile, 45);
  EXPECT_EQ(profile.conservation[0].idle, 3u + 4u);
  // The idle task's net_rx_action joined that of the others; default_idle outside the idle task stays.
  EXPECT_EQ(profile.keys.size(), 2u);
  ASSERT_GE(profile.entries.size(), 2u);
  EXPECT_EQ(profile.entries[0].counts, (Counts{1, 10}));
  EXPECT_EQ(profile.entries[1].counts, (Counts{2 + 5, 20 + 50}));
}

TEST(SymbolizeProfileTest, StacksOfHaltedCpusAreIdleAsWell) {
  Profile profile = ThreeImages();
  for (const ProfileEntry& entry : profile.entries) {
    profile.stack_nodes.push_back({.location = entry.location});
    const uint32_t node = static_cast<uint32_t>(profile.stack_nodes.size() - 1);
    profile.stacks.push_back({.key = entry.key, .node = node, .counts = entry.counts});
  }
  TableSymbolizer symbolizer;
  symbolizer.symbols = {{"vmlinux", {{1, "default_idle"}, {2, "net_rx_action"}}}};
  Symbolize(profile, symbolizer);
  EXPECT_EQ(profile.conservation[0].idle, 3u + 4u);
  testing::ExpectStacksMatchEntries(profile);
}

TEST(SymbolizeProfileTest, CountIdleKeepsThem) {
  Profile profile = ThreeImages();
  TableSymbolizer symbolizer;
  symbolizer.symbols = {{"vmlinux", {{1, "default_idle"}}}};
  Symbolize(profile, symbolizer, {.count_idle = true});
  ExpectConserved(profile, 45);
  EXPECT_EQ(profile.conservation[0].idle, 0u);
  EXPECT_EQ(profile.conservation[0].counted, 45u);
}

TEST(SymbolizeProfileTest, WithoutKernelSymbolsIdleIsNotGuessed) {
  Profile profile = ThreeImages();
  TableSymbolizer symbolizer;
  symbolizer.reasons = {{"vmlinux", UnresolvedReason::kKernelSymbolsHidden}};
  Symbolize(profile, symbolizer);
  ExpectConserved(profile, 45);
  EXPECT_EQ(profile.conservation[0].idle, 0u);
  EXPECT_THAT(profile.facts.notes, ::testing::Contains(HasSubstr("idle is not told apart: 12 samples")));
}

TEST(SymbolizeProfileTest, TwiceIsTheSameAsOnce) {
  Profile profile = ThreeImages();
  TableSymbolizer symbolizer;
  symbolizer.symbols = {{"vmlinux", {{1, "default_idle"}, {2, "udp_rcv"}}}};
  Symbolize(profile, symbolizer);
  const Profile once = profile;
  Symbolize(profile, symbolizer);
  EXPECT_EQ(profile.symbols.size(), once.symbols.size());
  EXPECT_EQ(profile.entries.size(), once.entries.size());
  EXPECT_EQ(profile.facts.notes, once.facts.notes);
  ExpectConserved(profile, 45);
}

// Every address in a file of its own name, odd ones with a call inlined.
class SourceSymbolizer : public Symbolizer {
 public:
  ImageSymbols Resolve(const Image& image, std::span<const uint64_t> addresses) override {
    ImageSymbols found;
    found.symbols = {{.name = "f", .start = 0, .size = 0x1000, .file = image.path, .line = 1}};
    found.source.files = {image.path, image.path + ".h"};
    found.source.functions = {{"f", 0, 1}, {"g", 1, 2}};
    for (const uint64_t address : addresses) {
      found.addresses.push_back({.symbol = 0, .elf = ElfAddress(address)});
      found.source.first.push_back(static_cast<uint32_t>(found.source.frames.size()));
      if (address % 2 == 1) found.source.frames.push_back({1, 1, static_cast<uint32_t>(address)});
      if (address != 4) found.source.frames.push_back({0, 0, static_cast<uint32_t>(address)});
    }
    found.source.first.push_back(static_cast<uint32_t>(found.source.frames.size()));
    return found;
  }
};

TEST(SymbolizeProfile, KeepsLinesAndInlinedCallsOfEachImage) {
  Profile profile;
  profile.events = {{.name = "cycles", .note = {}}};
  profile.conservation.resize(1);
  profile.images = {Named(ImageKind::kFile, "/a"), Named(ImageKind::kFile, "/b")};
  profile.locations = {{.image = 0, .address = 2},
                       {.image = 0, .address = 3},
                       {.image = 1, .address = 3},
                       {.image = 1, .address = 4}};
  SourceSymbolizer symbolizer;
  Symbolize(profile, symbolizer);
  std::vector<std::string> texts;
  for (const ProfileLocation& location : profile.locations) {
    std::string text;
    for (uint32_t i = 0; i < location.frames; ++i) {
      const SourceFrame& frame = profile.source.frames[location.first_frame + i];
      const SourceFunction& function = profile.source.functions[frame.function];
      text += function.name + " " + profile.source.files[function.file] + " " +
              profile.source.files[frame.file] + ":" + std::to_string(frame.line) + ";";
    }
    texts.push_back(text);
  }
  EXPECT_THAT(texts, ElementsAre("f /a /a:2;", "g /a.h /a.h:3;f /a /a:3;", "g /b.h /b.h:3;f /b /b:3;", ""));
  EXPECT_EQ(profile.symbols[profile.locations[3].symbol].file, "/b");
}

}  // namespace
}  // namespace ksamp
