// SPDX-License-Identifier: Apache-2.0
#include "lib/os/event_catalog.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"

namespace ksamp {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileBytes = size_t{1} << 16;
constexpr int kWordBits = 64;

std::optional<std::string> ReadLine(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxFileBytes);
  if (!text.ok()) return std::nullopt;
  while (!text->empty() && (text->back() == '\n' || text->back() == ' ')) text->pop_back();
  return *std::move(text);
}

// Names in a folder, sorted; empty where it cannot be read.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<int> ParseInt(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void ReadFormats(const std::string& folder, Pmu& pmu) {
  for (const std::string& name : NamesIn(folder)) {
    const std::optional<std::string> text = ReadLine(StrCat(folder, "/", name));
    if (!text) continue;
    if (std::optional<PmuTerm> term = ParsePmuFormat(name, *text)) pmu.terms.push_back(*std::move(term));
  }
}

void ReadAliases(const std::string& folder, Pmu& pmu) {
  for (const std::string& name : NamesIn(folder)) {
    if (name.find('.') != std::string::npos) continue;  // NAME.unit and NAME.scale belong to NAME.
    const std::string path = StrCat(folder, "/", name);
    std::optional<std::string> terms = ReadLine(path);
    if (!terms || terms->empty()) continue;
    Pmu::Alias alias;
    alias.name = name;
    alias.terms = *std::move(terms);
    alias.unit = ReadLine(path + ".unit").value_or("");
    const std::string scale = ReadLine(path + ".scale").value_or("");
    if (const double factor = std::strtod(scale.c_str(), nullptr); factor > 0) alias.scale = factor;
    pmu.aliases.push_back(std::move(alias));
  }
}

std::optional<Pmu> ReadPmu(const std::string& folder, const std::string& name) {
  const std::optional<std::string> type = ReadLine(folder + "/type");
  const std::optional<int> number = type ? ParseInt(*type) : std::nullopt;
  if (!number || *number < 0) return std::nullopt;
  Pmu pmu;
  pmu.name = name;
  pmu.type = static_cast<uint32_t>(*number);
  // Only PMUs of the execution of some CPUs have `cpus`; others count for a package and say where to ask.
  const std::optional<std::string> cpus = ReadLine(folder + "/cpus");
  pmu.core = name == "cpu" || cpus.has_value();
  pmu.cpus = cpus ? *cpus : ReadLine(folder + "/cpumask").value_or("");
  ReadFormats(folder + "/format", pmu);
  ReadAliases(folder + "/events", pmu);
  return pmu;
}

class MachineCatalog : public EventCatalog {
 public:
  explicit MachineCatalog(const std::string& sys_root)
      : tracing_{sys_root + "/kernel/tracing", sys_root + "/kernel/debug/tracing"} {
    const std::string devices = sys_root + "/bus/event_source/devices";
    for (const std::string& name : NamesIn(devices)) {
      if (std::optional<Pmu> pmu = ReadPmu(StrCat(devices, "/", name), name))
        pmus_.push_back(*std::move(pmu));
    }
  }

  const std::vector<Pmu>& pmus() const override { return pmus_; }

  absl::StatusOr<uint64_t> TracepointId(std::string_view subsystem, std::string_view name) const override {
    const std::string what = StrCat("tracepoint ", subsystem, ":", name);
    for (const std::string& root : tracing_) {
      std::error_code error;
      if (!fs::exists(StrCat(root, "/events"), error)) {
        if (error == std::errc::permission_denied)
          return absl::PermissionDeniedError(StrCat(what, ": only root may read ", root));
        continue;
      }
      const absl::StatusOr<std::string> text =
          ReadFile(StrCat(root, "/events/", subsystem, "/", name, "/id"), kMaxFileBytes);
      if (!text.ok() && !absl::IsNotFound(text.status())) return text.status();
      const std::optional<int> id =
          text.ok() ? ParseInt(std::string_view(*text).substr(0, text->find('\n'))) : std::nullopt;
      if (!id || *id < 0) return absl::NotFoundError(StrCat(what, ": the kernel has no such tracepoint"));
      return static_cast<uint64_t>(*id);
    }
    return absl::FailedPreconditionError(StrCat(what, ": tracefs is not mounted at ", tracing_.front()));
  }

  std::vector<std::string> Tracepoints() const override {
    std::vector<std::string> all;
    for (const std::string& root : tracing_) {
      for (const std::string& subsystem : NamesIn(root + "/events")) {
        for (const std::string& name : NamesIn(StrCat(root, "/events/", subsystem))) {
          std::error_code error;
          if (fs::exists(StrCat(root, "/events/", subsystem, "/", name, "/id"), error))
            all.push_back(StrCat(subsystem, ":", name));
        }
      }
      if (!all.empty()) break;
    }
    return all;
  }

 private:
  std::vector<std::string> tracing_;  // where tracefs may be
  std::vector<Pmu> pmus_;
};

}  // namespace

std::optional<PmuTerm> ParsePmuFormat(std::string_view name, std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  PmuTerm term;
  term.name = std::string(name);
  const std::string_view word = text.substr(0, colon);
  if (word.substr(0, 6) != "config" || word.size() > 7) return std::nullopt;
  if (word.size() == 7) term.word = word.back() - '0';
  if (term.word < 0 || term.word > 3) return std::nullopt;
  for (std::string_view rest = text.substr(colon + 1); !rest.empty();) {
    const std::string_view piece = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
    const size_t dash = piece.find('-');
    const std::optional<int> first = ParseInt(piece.substr(0, dash));
    const std::optional<int> last = dash == std::string_view::npos ? first : ParseInt(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kWordBits) return std::nullopt;
    term.bit_ranges.emplace_back(*first, *last);
  }
  if (term.bit_ranges.empty()) return std::nullopt;
  return term;
}

std::unique_ptr<EventCatalog> SysfsEventCatalog(const std::string& sys_root) {
  return std::make_unique<MachineCatalog>(sys_root);
}

std::unique_ptr<EventCatalog> SystemEventCatalog(const std::string& sys_root) {
  return SysfsEventCatalog(sys_root);
}

}  // namespace ksamp
