// SPDX-License-Identifier: Apache-2.0
#include "lib/symbol/perf_map_symbolizer.h"

#include <sys/mman.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "lib/base/file_io.h"
#include "lib/base/str_cat.h"
#include "lib/os/proc_fs.h"
#include "lib/os/process_root.h"
#include "lib/symbol/recorded_machine.h"
#include "lib/symbol/symbol_collector.h"

namespace ksamp {
namespace {

// The process that has this pid now still has code where the image was.
bool HasCodeAt(const ProcFs& proc, const Image& image) {
  const pid_t pid = static_cast<pid_t>(image.pid);
  std::string scratch;
  const absl::StatusOr<std::span<char>> maps = proc.ReadMaps(pid, pid, scratch);
  if (!maps.ok()) return false;
  bool found = false;
  ForEachMapsLine(*maps, [&](const MapsLine& line) {
    found = found || ((line.protection & PROT_EXEC) != 0 && line.start < image.end.value &&
                      line.end > image.start.value);
  });
  return found;
}

}  // namespace

std::optional<ProcessRoot> RootOfProcess(const Image& image, const SymbolizerOptions& options) {
  const pid_t pid = static_cast<pid_t>(image.pid);
  absl::StatusOr<ProcessRoot> root = absl::NotFoundError("");
  if (MayBeRecordedMachine(options)) {
    const absl::StatusOr<ProcFs> proc = ProcFs::Open(options.proc_root);
    if (proc.ok() && HasCodeAt(*proc, image)) root = ProcessRoot::Of(*proc, pid);
  }
  if (!root.ok() && !options.root.empty()) {
    root = ProcessRoot::OfEnded(pid, options.root);
  } else if (!root.ok() && IsRecordedMachine(options)) {
    root = ProcessRoot::OfEnded(pid);
  }
  if (!root.ok()) return std::nullopt;
  return *std::move(root);
}

void PerfMapSymbolizer::Read(const ProcessRoot& root, Source& source) {
  const std::string path = PerfMapPath(root.pid_inside());
  const absl::StatusOr<UniqueFd> fd = root.OpenOwned(path);
  const std::string name = StrCat(root.name(), path);
  absl::StatusOr<std::string> text = fd.ok() ? ReadAll(fd->get(), name, PerfMap::kMaxTextBytes) : fd.status();
  if (!text.ok()) {
    const int error = StatusErrno(text.status());
    if (error != ENOENT && error != ENOTDIR) source.notes.push_back(MessageOf(text.status()));
    return;
  }
  source.map = PerfMap::Parse(*std::move(text));
  source.file = name;
}

void PerfMapSymbolizer::Load(const Image& image, Source& source) const {
  if (const auto recorded = options_.perf_maps.find(image.pid); recorded != options_.perf_maps.end()) {
    source.map = PerfMap::Parse(recorded->second);
    source.file = StrCat("recording's perf-", image.pid, ".map");
  } else if (const std::optional<ProcessRoot> root = RootOfProcess(image, options_)) {
    Read(*root, source);
  }
  if (source.map.damaged_lines() > 0)
    source.notes.push_back(StrCat(source.file, ": ", source.map.damaged_lines(),
                                  " lines are not \"start size name\"; left out"));
}

std::shared_ptr<PerfMapSymbolizer::Source> PerfMapSymbolizer::SourceOf(const Image& image) {
  std::shared_ptr<Source> source;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Source>& entry = sources_[image.pid];
    if (entry == nullptr) entry = std::make_shared<Source>();
    source = entry;
  }
  std::call_once(source->loaded, [&] { Load(image, *source); });
  return source;
}

ImageSymbols PerfMapSymbolizer::Resolve(const Image& image, std::span<const uint64_t> addresses) {
  SymbolCollector collect(addresses.size());
  const std::shared_ptr<Source> source = SourceOf(image);
  for (const std::string& note : source->notes) collect.Note(note);
  collect.SetFile(source->file);
  const UnresolvedReason missing =
      source->map.empty() ? UnresolvedReason::kAnonymousMemory : UnresolvedReason::kBetweenSymbols;
  for (size_t i = 0; i < addresses.size(); ++i) {
    collect.SetElf(i, ElfAddress(addresses[i]));
    if (const auto match = source->map.Find(addresses[i])) {
      collect.Found(i, match->id, match->name, match->start, match->size);
    } else {
      collect.NotFound(i, missing);
    }
  }
  return std::move(collect).Take();
}

}  // namespace ksamp
