// SPDX-License-Identifier: Apache-2.0
#include "test/support/recording_script.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <sstream>
#include <tuple>
#include <utility>

#include "lib/base/compression.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/object/dwarf_constants.h"
#include "lib/perfdata/format.h"
#include "test/support/dwarf_builder.h"
#include "test/support/elf_builder.h"

namespace ksamp::testing {
namespace {

using Words = std::vector<std::string>;
using Bytes = std::vector<std::byte>;

constexpr uint32_t kKernelPid = ~0u;
constexpr uint64_t kMillisecond = 1'000'000;

uint64_t Number(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 0);
}
uint32_t Small(const std::string& text) {
  return static_cast<uint32_t>(Number(text));
}

// "\x1b" and "\n" become the bytes they stand for.
std::string Unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.compare(i, 2, "\\n") == 0) {
      out += '\n';
      ++i;
    } else if (text[i] == '\\' && text.compare(i, 2, "\\x") == 0 && i + 3 < text.size()) {
      out += static_cast<char>(std::strtoul(text.substr(i + 2, 2).c_str(), nullptr, 16));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string Joined(const Words& words, size_t from) {
  std::string out;
  for (size_t i = from; i < words.size(); ++i) StrAppend(&out, i == from ? "" : " ", words[i]);
  return Unescaped(out);
}

// "42/43" is process 42, thread 43.
std::pair<uint32_t, uint32_t> PidTid(const std::string& text) {
  const size_t slash = text.find('/');
  const uint32_t pid = Small(text.substr(0, slash));
  return {pid, slash == std::string::npos ? pid : Small(text.substr(slash + 1))};
}

// The value of "key=value" among the words; empty where there is none.
std::string Option(const Words& words, std::string_view key) {
  for (const std::string& word : words)
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
      return word.substr(key.size() + 1);
  return "";
}

std::string FromHex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::strtoul(hex.substr(i, 2).c_str(), nullptr, 16));
  return out;
}

Bytes BytesOf(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return Bytes(bytes.begin(), bytes.end());
}

// A string of perf's header: its padded length, then the text.
Bytes PerfString(std::string_view text) {
  const uint32_t size = static_cast<uint32_t>((text.size() + 64) / 64 * 64);
  Bytes out(sizeof(size) + size);
  const auto length = std::as_bytes(std::span(&size, 1));
  std::copy(length.begin(), length.end(), out.begin());
  const auto bytes = std::as_bytes(std::span(text));
  std::copy(bytes.begin(), bytes.end(), out.begin() + sizeof(size));
  return out;
}

CpuMode ModeOf(const std::string& word) {
  if (word == "kernel") return CpuMode::kKernel;
  if (word == "guest") return CpuMode::kGuestKernel;
  return word == "hv" ? CpuMode::kHypervisor : CpuMode::kUser;
}

void WriteFile(const std::string& path, const std::string& content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

class RecordingScript::Parser {
 public:
  Parser(PerfDataBuilder& builder, std::string root) : b_(builder), root_(std::move(root)) {
    AddFileLines();
    AddRecordLines();
    AddFormLines();
  }

  absl::Status Line(const std::string& line, const Words& words) {
    line_ = line;
    const auto found = lines_.find(words[0]);
    if (found == lines_.end()) return absl::InvalidArgumentError(StrCat("unknown word ", words[0]));
    if (words.size() < found->second.least)
      return absl::InvalidArgumentError(StrCat(words[0], " needs more words"));
    found->second.run(words);
    return absl::OkStatus();
  }

  void Finish() {
    const std::pair<unsigned, const std::string*> packed[] = {{perfdata::kKsampKernelSymbols, &kallsyms_},
                                                              {perfdata::kKsampModules, &modules_},
                                                              {perfdata::kKsampModuleSections, &sections_}};
    for (const auto& [bit, text] : packed)
      if (!text->empty()) b_.Preamble(bit, *CompressZstd(BytesOf(*text), 3));
    if (!meta_.empty()) b_.Preamble(perfdata::kKsampMeta, BytesOf(meta_));
  }

 private:
  struct LineKind {
    size_t least;  // words
    std::function<void(const Words&)> run;
  };

  void AddFileLines() {
    lines_["file"] = {2, [this](const Words& w) { ElfFile(w); }};
    lines_["text"] = {2, [this](const Words& w) { WriteFile(root_ + w[1], Joined(w, 2)); }};
    lines_["kallsyms"] = {4, [this](const Words& w) {
                            StrAppend(&kallsyms_, w[1].substr(2), " ", w[2], " ", w[3],
                                      w.size() > 4 ? StrCat("\t", w[4]) : "", "\n");
                          }};
    lines_["modules"] = {
        4, [this](const Words& w) { StrAppend(&modules_, w[1], " ", w[2], " 0 - Live ", w[3], "\n"); }};
    lines_["sections"] = {4, [this](const Words& w) { StrAppend(&sections_, Joined(w, 1), "\n"); }};
    lines_["meta"] = {2, [this](const Words& w) { StrAppend(&meta_, line_.substr(line_.find(w[1])), "\n"); }};
    lines_["machine"] = {2, [this](const Words& w) {
                           b_.Feature(8, PerfString(Joined(w, 1))).Feature(4, PerfString("6.1.0"));
                         }};
  }

  void AddRecordLines() {
    lines_["event"] = {2, [this](const Words& w) { Event(w); }};
    lines_["kernel"] = {3, [this](const Words& w) {
                          KernelMap(Number(w[1]), Number(w[2]), Number(w[1]), "[kernel.kallsyms]_text");
                        }};
    lines_["module"] = {4, [this](const Words& w) { KernelMap(Number(w[1]), Number(w[2]), 0, w[3]); }};
    lines_["comm"] = {3, [this](const Words& w) {
                        const auto [pid, tid] = PidTid(w[1]);
                        b_.Comm(pid, tid, Joined(w, 2), time_);
                      }};
    lines_["exec"] = {
        3, [this](const Words& w) { b_.Comm(Small(w[1]), Small(w[1]), Joined(w, 2), time_, true); }};
    lines_["fork"] = {3, [this](const Words& w) {
                        const uint32_t pid = Small(w[1]), parent = Small(w[2]);
                        b_.Fork(pid, parent, pid, parent, time_);
                      }};
    lines_["mmap"] = {6, [this](const Words& w) { Mmap(w); }};
    lines_["sample"] = {6, [this](const Words& w) { Samples(w); }};
    lines_["lost"] = {2, [this](const Words& w) { b_.Lost(1, Number(w[1]), time_); }};
    lines_["throttle"] = {1, [this](const Words&) { b_.Throttle(time_, 1); }};
    lines_["bytes"] = {2, [this](const Words& w) { b_.AddBytes(BytesOf(FromHex(w[1]))); }};
  }

  void AddFormLines() {
    lines_["killed"] = {1, [this](const Words&) { b_.Killed(); }};
    lines_["truncated"] = {2, [this](const Words& w) { b_.Truncated(Number(w[1])); }};
    lines_["piped"] = {1, [this](const Words&) { b_.Piped(); }};
    lines_["compressed"] = {1, [this](const Words&) { b_.Compressed(); }};
    lines_["foreign"] = {1, [this](const Words&) { b_.ForeignByteOrder(); }};
  }

  void Event(const Words& w) {
    perf_event_attr attr = SampleAttr();
    if (const std::string period = Option(w, "period"); !period.empty()) attr.sample_period = Number(period);
    if (const std::string hz = Option(w, "freq"); !hz.empty()) {
      attr.freq = 1;
      attr.sample_freq = Number(hz);
    }
    if (const std::string type = Option(w, "type"); !type.empty()) attr.type = Small(type);
    if (const std::string config = Option(w, "config"); !config.empty()) attr.config = Number(config);
    if (std::find(w.begin(), w.end(), "stacks") != w.end()) attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
    b_.AddEvent(Unescaped(w[1]), {++events_}, attr);
  }

  void ElfFile(const Words& w) {
    ElfBuilder elf;
    const uint16_t text = elf.AddCode(".text", 0x1000, 0x8000);
    if (const std::string id = Option(w, "id"); !id.empty()) elf.AddBuildId(FromHex(id));
    for (size_t i = 2; i < w.size(); ++i) {
      const size_t at = w[i].rfind('@'), plus = w[i].rfind('+');
      if (at == std::string::npos || plus == std::string::npos || w[i].starts_with("inline=")) continue;
      elf.AddSymbol(Unescaped(w[i].substr(0, at)), Number(w[i].substr(at + 1, plus - at - 1)),
                    Number(w[i].substr(plus + 1)), text);
    }
    elf.AddSegment({.offset = 0x1000, .vaddr = 0x1000, .filesz = 0x8000});
    DebugInfoOf(w).AddTo(&elf);
    WriteFile(root_ + Unescaped(w[1]), elf.Build());
  }

  // "NAME@ADDRESS+SIZE:…" in parts.
  struct Code {
    std::string name;
    uint64_t address = 0, size = 0;
    Words rest;
  };
  static Words Parts(const std::string& text) {
    Words parts(1);
    for (const char c : text) {
      if (c == ':') {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  }
  Code CodeOf(const std::string& text) {
    Code code;
    code.rest = Parts(text);
    const std::string& place = code.rest[0];
    const size_t at = place.rfind('@'), plus = place.rfind('+');
    if (at == std::string::npos || plus == std::string::npos || plus < at) return code;
    code.name = Unescaped(place.substr(0, at));
    code.address = Number(place.substr(at + 1, plus - at - 1));
    code.size = Number(place.substr(plus + 1));
    return code;
  }

  // A unit of C that is all of the file's code; empty without row= words.
  DwarfBuilder DebugInfoOf(const Words& w) {
    DwarfBuilder dwarf;
    Words files;
    const auto file_number = [&files](const std::string& file) {
      const auto at = std::find(files.begin(), files.end(), file);
      if (at == files.end()) files.push_back(file);
      return static_cast<uint64_t>(std::find(files.begin(), files.end(), file) - files.begin()) + 1;
    };
    DwarfBytes rows;
    uint64_t address = 0, line = 1;
    for (const std::string& word : w) {
      if (!word.starts_with("row=")) continue;
      const Words parts = Parts(word.substr(4));
      const uint64_t next = Number(parts.at(0)), next_line = Number(parts.at(2));
      if (address == 0) rows.SetAddress(address = next);
      rows.U8(4).Uleb(file_number(parts.at(1)));
      rows.Row(next - address, static_cast<int64_t>(next_line) - static_cast<int64_t>(line));
      address = next;
      line = next_line;
    }
    if (address == 0) return dwarf;
    rows.EndSequence(0x9000 - address);
    std::vector<Code> inlined;
    for (const std::string& word : w) {
      if (word.starts_with("inline=")) inlined.push_back(CodeOf(word.substr(7)));
    }
    for (const Code& code : inlined) file_number(code.rest.at(2));
    AddEntries(w, inlined,
               dwarf.AddLineTable(std::vector<std::string_view>(files.begin(), files.end()), rows),
               file_number, &dwarf);
    return dwarf;
  }

  void AddEntries(const Words& w, const std::vector<Code>& inlined, uint64_t lines,
                  const std::function<uint64_t(const std::string&)>& file_number, DwarfBuilder* dwarf) {
    dwarf->abbrev.Abbrev(1, kTagCompileUnit, true,
                         {{kAtCompDir, kFormString},
                          {kAtStmtList, kFormSecOffset},
                          {kAtLowPc, kFormAddr},
                          {kAtHighPc, kFormData4},
                          {kAtLanguage, kFormData1}});
    dwarf->abbrev.Abbrev(2, kTagSubprogram, true,
                         {{kAtLinkageName, kFormString}, {kAtLowPc, kFormAddr}, {kAtHighPc, kFormData4}});
    dwarf->abbrev.Abbrev(3, kTagInlinedSubroutine, false,
                         {{kAtAbstractOrigin, kFormRef4},
                          {kAtLowPc, kFormAddr},
                          {kAtHighPc, kFormData4},
                          {kAtCallFile, kFormData1},
                          {kAtCallLine, kFormUdata}});
    dwarf->abbrev.Abbrev(5, kTagSubprogram, true,
                         {{kAtAbstractOrigin, kFormRef4}, {kAtLowPc, kFormAddr}, {kAtHighPc, kFormData4}});
    dwarf->abbrev
        .Abbrev(4, kTagSubprogram, false,
                {{kAtLinkageName, kFormString}, {kAtDeclFile, kFormData1}, {kAtDeclLine, kFormUdata}})
        .Uleb(0);
    DwarfBytes entries = DwarfBytes().Uleb(1).Text("/src").U32(lines).U64(0x1000).U32(0x8000).U8(kLanguageC);
    std::vector<uint64_t> origins;
    for (const Code& code : inlined) {
      origins.push_back(DwarfBuilder::HeaderSize(4) + entries.size());
      entries.Uleb(4).Text(code.name).U8(file_number(code.rest.at(2))).Uleb(Number(code.rest.at(3)));
    }
    for (const std::string& word : w) {
      const Code function = CodeOf(word);
      if (function.size == 0 || word.starts_with("inline=")) continue;
      const auto abstract = std::find_if(inlined.begin(), inlined.end(),
                                         [&](const Code& code) { return code.name == function.name; });
      if (abstract == inlined.end()) {
        entries.Uleb(2).Text(function.name);
      } else {
        entries.Uleb(5).U32(origins[static_cast<size_t>(abstract - inlined.begin())]);
      }
      entries.U64(function.address).U32(function.size);
      for (size_t i = 0; i < inlined.size(); ++i) {
        const Code& code = inlined[i];
        if (code.address < function.address || code.address >= function.address + function.size) continue;
        entries.Uleb(3).U32(origins[i]).U64(code.address).U32(code.size).U8(1).Uleb(Number(code.rest.at(1)));
      }
      entries.Uleb(0);
    }
    dwarf->AddUnit(4, entries.Uleb(0));
  }

  void KernelMap(uint64_t address, uint64_t size, uint64_t offset, const std::string& path) {
    b_.Mmap({.pid = kKernelPid,
             .tid = 0,
             .addr = address,
             .length = size,
             .file_offset = offset,
             .path = Unescaped(path),
             .time = time_,
             .mode = CpuMode::kKernel,
             .old_form = true});
  }

  void Mmap(const Words& w) {
    const std::string id = FromHex(Option(w, "id"));
    b_.Mmap({.pid = Small(w[1]),
             .addr = Number(w[2]),
             .length = Number(w[3]),
             .file_offset = Number(w[4]),
             .path = Unescaped(w[5]),
             .time = time_,
             .build_id = std::vector<uint8_t>(id.begin(), id.end())});
  }

  // The sampled address, then "0x10,user,0x20": addresses outwards, `user` where the kernel was entered.
  static std::vector<uint64_t> ChainOf(CpuMode mode, uint64_t ip, const std::string& words) {
    constexpr uint64_t kKernel = PERF_CONTEXT_KERNEL, kUser = PERF_CONTEXT_USER;
    std::vector<uint64_t> chain = {mode == CpuMode::kKernel ? kKernel : kUser, ip};
    for (size_t at = 0; at < words.size();) {
      const size_t end = std::min(words.find(',', at), words.size());
      const std::string word = words.substr(at, end - at);
      chain.push_back(word == "user" ? kUser : Number(word));
      at = end + 1;
    }
    return chain;
  }

  void Samples(const Words& w) {
    BuiltSample sample;
    std::tie(sample.pid, sample.tid) = PidTid(w[1]);
    sample.cpu = Small(w[2]);
    sample.time = time_ = Number(w[3]) * kMillisecond;
    sample.mode = ModeOf(w[4]);
    sample.ip = Number(w[5]);
    if (const std::string event = Option(w, "event"); !event.empty()) sample.event = Number(event);
    if (const std::string period = Option(w, "period"); !period.empty()) sample.period = Number(period);
    if (const std::string chain = Option(w, "chain"); !chain.empty())
      sample.callchain = ChainOf(sample.mode, sample.ip, chain);
    const uint64_t count = w.size() > 6 && w[6][0] == 'x' ? Number(w[6].substr(1)) : 1;
    for (uint64_t i = 0; i < count; ++i) b_.Sample(sample);
  }

  PerfDataBuilder& b_;
  const std::string root_;
  std::map<std::string, LineKind> lines_;
  std::string line_, kallsyms_, modules_, sections_, meta_;
  uint64_t time_ = 0, events_ = 0;
};

absl::StatusOr<RecordingScript> RecordingScript::Parse(std::string_view text, const std::string& root) {
  RecordingScript script;
  Parser parser(script.builder_, root);
  std::istringstream lines{std::string(text)};
  std::string line;
  for (size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream stream(line);
    Words words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.empty() || words[0][0] == '#') continue;
    if (const absl::Status status = parser.Line(line, words); !status.ok())
      return absl::InvalidArgumentError(StrCat("line ", number, ": ", MessageOf(status)));
  }
  parser.Finish();
  return script;
}

}  // namespace ksamp::testing
