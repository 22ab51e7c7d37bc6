// SPDX-License-Identifier: Apache-2.0
#include "lib/object/debug_lines.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lib/base/parallel.h"
#include "lib/base/status_macros.h"
#include "lib/base/str_cat.h"
#include "lib/object/dwarf_file.h"
#include "lib/object/dwarf_inline_walk.h"
#include "lib/object/dwarf_line_program.h"
#include "lib/object/dwarf_names.h"
#include "lib/object/dwarf_unit_index.h"

namespace ksamp {
namespace {

// Honest debug info is read about three times for an answer: lines, entries, and abbreviations or names.
uint64_t WorkFor(const DwarfFile& file) {
  constexpr uint64_t kTimes = 16, kAtLeast = uint64_t{64} << 20;
  return kTimes * file.sections().size() + kAtLeast;
}

// The wanted addresses of one unit, and what was found for them.
struct UnitBatch {
  uint32_t unit = 0;
  size_t begin = 0, end = 0;  // of Asked::addresses
  std::vector<std::string> functions, files;
  std::vector<SourceFrame> frames;     // numbers are those of the two above
  std::vector<uint32_t> frame_counts;  // per address
};

// Wanted addresses ordered by unit.
struct Asked {
  std::vector<uint64_t> addresses;
  std::vector<size_t> index;  // of each in the question
  std::vector<UnitBatch> batches;
};

Asked ByUnit(const DwarfUnitIndex& index, std::span<const uint64_t> addresses) {
  std::vector<std::pair<uint32_t, size_t>> found;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (const auto unit = index.Find(addresses[i])) found.emplace_back(*unit, i);
  }
  std::sort(found.begin(), found.end());
  Asked asked;
  for (const auto& [unit, i] : found) {
    if (asked.batches.empty() || asked.batches.back().unit != unit) {
      asked.batches.emplace_back();
      asked.batches.back().unit = unit;
      asked.batches.back().begin = asked.addresses.size();
    }
    asked.addresses.push_back(addresses[i]);
    asked.index.push_back(i);
    asked.batches.back().end = asked.addresses.size();
  }
  return asked;
}

// Numbers for keys, counted up.
template <typename Key>
class Numbering {
 public:
  // The key's number, and whether it is new.
  std::pair<uint32_t, bool> Of(const Key& key) {
    const auto [it, added] = numbers_.try_emplace(key, static_cast<uint32_t>(numbers_.size()));
    return {it->second, added};
  }

 private:
  absl::flat_hash_map<Key, uint32_t> numbers_;
};

// What one thread keeps from unit to unit.
class UnitWorker {
 public:
  UnitWorker(const DwarfFile& file, uint64_t work) : file_(file), work_(work), abbrevs_(&work_) {}

  void Answer(std::span<const uint64_t> addresses, bool inlined, UnitBatch* batch) {
    const DwarfUnit& unit = file_.units()[batch->unit];
    const DwarfUnitReader reader(file_, unit, abbrevs_.Get(file_, unit));
    if (!reader.ok() || work_.spent()) return;
    std::vector<DwarfPlace> places(addresses.size());
    const DwarfLineProgram program(reader, reader.root().line_table.value_or(~uint64_t{0}));
    program.Run(addresses, &work_, places);
    InlinedCalls calls;
    calls.innermost.assign(addresses.size(), InlinedCalls::kNone);
    if (inlined) calls = FindInlinedCalls(reader, addresses, &work_);
    AddFrames(reader, program, calls, places, batch);
  }

  bool spent() const { return work_.spent(); }

 private:
  void AddFrames(const DwarfUnitReader& reader, const DwarfLineProgram& program, const InlinedCalls& calls,
                 std::span<const DwarfPlace> places, UnitBatch* batch) {
    Numbering<uint64_t> files, functions;
    const auto file_of = [&](uint64_t number) {
      const auto [index, added] = files.Of(number);
      if (added) batch->files.push_back(program.PathOf(number));
      return batch->files[index].empty() ? SourceFrame::kNone : index;
    };
    DwarfNames names(&abbrevs_, &work_);
    const auto function_of = [&](uint64_t entry) {
      const auto [index, added] = functions.Of(entry);
      if (added) batch->functions.push_back(names.FunctionName(reader, entry));
      return batch->functions[index].empty() ? SourceFrame::kNone : index;
    };
    for (size_t i = 0; i < places.size(); ++i) {
      const size_t before = batch->frames.size();
      SourceFrame frame;
      if (places[i].known) {
        frame.file = file_of(places[i].file);
        frame.line = places[i].line;
      }
      for (uint32_t at = calls.innermost[i]; at != InlinedCalls::kNone; at = calls.calls[at].outer) {
        const InlinedCalls::Call& call = calls.calls[at];
        frame.function = function_of(call.entry);
        batch->frames.push_back(frame);
        frame = SourceFrame();
        if (call.outer == InlinedCalls::kNone) continue;
        frame.file = file_of(call.file);
        frame.line = call.line;
      }
      if (batch->frames.size() == before && places[i].known) batch->frames.push_back(frame);
      batch->frame_counts.push_back(static_cast<uint32_t>(batch->frames.size() - before));
    }
  }

  const DwarfFile& file_;
  DwarfWork work_;
  DwarfAbbrevCache abbrevs_;
};

// Puts the units' answers together in the order of the question, each text once.
class Assembly {
 public:
  explicit Assembly(SourceFrames* out) : out_(*out) {}

  void Add(const UnitBatch& batch, std::span<const SourceFrame> frames) {
    for (SourceFrame frame : frames) {
      if (frame.function != SourceFrame::kNone) {
        frame.function = Intern(batch.functions[frame.function], &functions_, &out_.functions);
      }
      if (frame.file != SourceFrame::kNone) {
        frame.file = Intern(batch.files[frame.file], &files_, &out_.files);
      }
      out_.frames.push_back(frame);
    }
  }

 private:
  static uint32_t Intern(const std::string& text, Numbering<std::string>* numbers,
                         std::vector<std::string>* texts) {
    const auto [index, added] = numbers->Of(text);
    if (added) texts->push_back(text);
    return index;
  }
  SourceFrames& out_;
  Numbering<std::string> functions_, files_;
};

}  // namespace

struct DebugLines::Content {
  explicit Content(DwarfFile main) : file(std::move(main)) {}
  DwarfFile file;
  DwarfUnitIndex index;
};

DebugLines::DebugLines(std::unique_ptr<Content> content) : content_(std::move(content)) {}
DebugLines::DebugLines(DebugLines&&) noexcept = default;
DebugLines& DebugLines::operator=(DebugLines&&) noexcept = default;
DebugLines::~DebugLines() = default;

absl::StatusOr<DebugLines> DebugLines::Open(const ElfImage& elf, const std::string&, const Options&) {
  KSAMP_ASSIGN_OR_RETURN(DwarfFile file, DwarfFile::Load(elf));
  auto content = std::make_unique<Content>(std::move(file));
  DwarfWork work(WorkFor(content->file));
  content->index = DwarfUnitIndex::Build(content->file, &work);
  return DebugLines(std::move(content));
}

SourceFrames DebugLines::Find(std::span<const uint64_t> addresses, const Query& query) const {
  Asked asked = ByUnit(content_->index, addresses);
  const unsigned threads = std::max(1u, query.threads);
  std::deque<UnitWorker> workers;
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back(content_->file, WorkFor(content_->file));
  ParallelFor(asked.batches.size(), threads, [&](size_t i, unsigned worker) {
    UnitBatch& batch = asked.batches[i];
    const auto wanted =
        std::span(std::as_const(asked.addresses)).subspan(batch.begin, batch.end - batch.begin);
    workers[worker].Answer(wanted, query.inlined, &batch);
  });

  struct Answer {
    const UnitBatch* batch = nullptr;
    std::span<const SourceFrame> frames;
  };
  std::vector<Answer> answers(addresses.size());
  for (const UnitBatch& batch : asked.batches) {
    size_t first = 0;
    for (size_t i = 0; i < batch.frame_counts.size(); ++i) {
      answers[asked.index[batch.begin + i]] = {&batch,
                                               std::span(batch.frames).subspan(first, batch.frame_counts[i])};
      first += batch.frame_counts[i];
    }
  }
  SourceFrames found;
  Assembly assembly(&found);
  for (const Answer& answer : answers) {
    found.first.push_back(static_cast<uint32_t>(found.frames.size()));
    if (answer.batch != nullptr) assembly.Add(*answer.batch, answer.frames);
  }
  found.first.push_back(static_cast<uint32_t>(found.frames.size()));
  const bool spent =
      std::any_of(workers.begin(), workers.end(), [](const UnitWorker& w) { return w.spent(); });
  if (spent) found.notes.push_back("the debug info asks for more work than its size accounts for; given up");
  return found;
}

}  // namespace ksamp
