// SPDX-License-Identifier: Apache-2.0
#include "lib/process/process_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "lib/base/checked_math.h"
#include "lib/base/file_io.h"
#include "lib/process/image_kind.h"
#include "lib/process/mapping_tree.h"

namespace ksamp {
namespace {

constexpr uint32_t kNoName = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kNoMapping = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kKernelPid = std::numeric_limits<uint32_t>::max();

enum class ChangeKind : uint8_t { kMap, kGenerated, kKernelMap, kKernelUnmap, kFork, kComm, kExec };

// A side record reduced to numbers.
struct Change {
  uint64_t time = 0;
  ChangeKind kind = ChangeKind::kMap;
  bool executable = true;    // kMap
  bool synthesised = false;  // kFork
  uint32_t pid = 0, tid = 0;
  uint32_t parent = 0, parent_thread = 0;  // kFork
  uint32_t subject = 0;                    // kMap, kGenerated, kKernelMap: image; kComm, kExec: name
  uint64_t start = 0, end = 0, file_offset = 0;
};

// A value from a time on; until the next one of the same list.
struct Since {
  uint64_t from = 0;
  uint32_t value = 0;
};

// Index of the entry valid at `time`; before the first one: the first. Requires: not empty, ascending.
size_t IndexAt(const std::vector<Since>& list, uint64_t time) {
  const auto after = std::upper_bound(list.begin(), list.end(), time,
                                      [](uint64_t t, const Since& entry) { return t < entry.from; });
  return after == list.begin() ? 0 : static_cast<size_t>(after - list.begin()) - 1;
}

// [from, until) of entry `index`: the first one also holds before its time.
std::pair<uint64_t, uint64_t> SpanOf(const std::vector<Since>& list, size_t index) {
  return {index == 0 ? 0 : list[index].from, index + 1 < list.size() ? list[index + 1].from : kForever};
}

// The versions of one address space.
struct AddressSpace {
  std::vector<Since> versions = {Since{0, MappingTree::kEmpty}};  // value: a root
  uint32_t owner = 0;                                             // of the last version's own nodes

  uint32_t last_root() const { return versions.back().value; }
};

struct Epoch {
  AddressSpace space;
  uint32_t pid = 0;
  uint64_t from = 0;
  uint32_t app = kNoName;
};

// What makes two records name one image.
using ImageKey = std::tuple<ImageKind, bool, uint32_t /*path*/, uint32_t /*build-id*/, uint32_t /*pid*/,
                            uint64_t /*start*/, uint64_t /*end*/>;

}  // namespace

struct ProcessTable::State {
  StringPool names;
  std::vector<Image> images;
  std::vector<Mapping> mappings;
  MappingTree tree;
  std::vector<Epoch> epochs;
  AddressSpace kernel;
  // By epoch: what was generated into it, above what is mapped. Few processes have it.
  absl::flat_hash_map<uint32_t, AddressSpace> generated;
  absl::flat_hash_map<uint32_t, std::vector<Since>> processes;  // pid -> epochs
  absl::flat_hash_map<uint32_t, std::vector<Since>> comms;      // tid -> names
  absl::flat_hash_map<uint32_t, uint32_t> process_of_thread;
  std::string kernel_reference_symbol;
  uint64_t kernel_reference_address = 0;
  bool has_kernel_map = false;

  // Only while building.
  std::vector<Change> changes;
  StringPool paths, build_ids;
  absl::flat_hash_map<ImageKey, uint32_t> image_by_key;

  // Thread 0 of every CPU idles in process 0, which no record announces.
  State() {
    StartEpoch(0, 0);
    comms[0] = {Since{0, names.Intern("swapper")}};
  }

  void AddMap(uint64_t time, const MmapRecord& map);
  void AddKernelMap(uint64_t time, const MmapRecord& map, uint64_t end);
  uint32_t InternImage(const ImageName& name, const MmapRecord& map, uint64_t end);

  void Apply(const Change& change);
  void ApplyFork(const Change& change);
  void ApplyMap(const Change& change);
  void ApplyGenerated(const Change& change);
  void SetComm(uint32_t tid, uint64_t time, uint32_t name);
  uint32_t StartEpoch(uint32_t pid, uint64_t time);
  uint32_t CurrentEpoch(uint32_t pid, uint64_t time);
  void Assign(AddressSpace& space, uint64_t time, const MappingTree::Piece& piece);
  uint32_t AddMapping(const Change& change);
  void NameApplications();
  FoundMapping FindIn(const AddressSpace& space, ProcessAddress ip, uint64_t time) const;
  bool HasGenerated(const AddressSpace& code, ProcessAddress start, ProcessAddress end, uint64_t time) const;
};

// ---- from records to changes ----

void ProcessTable::State::AddMap(uint64_t time, const MmapRecord& map) {
  if (map.mode == CpuMode::kGuestKernel || map.mode == CpuMode::kGuestUser) return;
  const uint64_t end = CheckedAdd(map.addr, map.length).value_or(std::numeric_limits<uint64_t>::max());
  if (map.pid == kKernelPid || map.mode == CpuMode::kKernel) return AddKernelMap(time, map, end);
  process_of_thread[map.tid] = map.pid;
  if (end <= map.addr) return;
  Change change{.time = time, .kind = ChangeKind::kMap, .pid = map.pid, .tid = map.tid};
  change.executable = !map.is_data && (!map.has_protection || (map.protection & PROT_EXEC) != 0);
  change.subject = InternImage(ClassifyUserPath(map.path), map, end);
  change.start = map.addr;
  change.end = end;
  change.file_offset = map.file_offset;
  changes.push_back(change);
}

void ProcessTable::State::AddKernelMap(uint64_t time, const MmapRecord& map, uint64_t end) {
  const ImageName name = ClassifyKernelPath(map.path);
  if (name.kind == ImageKind::kKernel && !has_kernel_map) {
    has_kernel_map = true;
    kernel_reference_symbol = name.reference_symbol;
    kernel_reference_address = name.reference_symbol.empty() ? 0 : map.file_offset;
  }
  if (end <= map.addr) return;
  Change change{.time = time, .kind = ChangeKind::kKernelMap, .start = map.addr, .end = end};
  change.subject = InternImage(name, map, end);
  // The kernel's "offset" is the reference symbol's address: its samples are addressed as they ran.
  changes.push_back(change);
}

uint32_t ProcessTable::State::InternImage(const ImageName& name, const MmapRecord& map, uint64_t end) {
  const bool anonymous = name.kind == ImageKind::kAnonymous || name.kind == ImageKind::kJitDump;
  const std::string_view build_id(reinterpret_cast<const char*>(map.build_id.bytes.data()),
                                  map.build_id.bytes.size());
  const uint32_t none = build_ids.Intern("");
  ImageKey key{name.kind,
               name.deleted,
               paths.Intern(name.path),
               build_ids.Intern(build_id),
               anonymous ? map.pid : 0,
               anonymous ? map.addr : 0,
               anonymous ? end : 0};
  if (auto it = image_by_key.find(key); it != image_by_key.end()) return it->second;
  ImageKey unidentified = key;
  std::get<3>(unidentified) = none;
  uint32_t image = static_cast<uint32_t>(images.size());
  // A path seen without build-id before (a synthesised record, say) is the image that has one now.
  if (auto it = image_by_key.find(unidentified);
      it != image_by_key.end() && images[it->second].build_id.empty()) {
    image = it->second;
  } else {
    images.push_back(
        {.kind = name.kind, .path = std::string(name.path), .deleted = name.deleted, .build_id = {}});
    images[image].pid = map.pid == kKernelPid ? 0 : map.pid;
    images[image].start = ProcessAddress(map.addr);
    images[image].end = ProcessAddress(end);
    if (name.kind == ImageKind::kModule) images[image].module_base = ProcessAddress(map.addr);
  }
  images[image].build_id.assign(map.build_id.bytes.begin(), map.build_id.bytes.end());
  image_by_key.emplace(key, image);
  image_by_key.try_emplace(unidentified, image);
  return image;
}

// ---- replaying the changes in order of time ----

void ProcessTable::State::SetComm(uint32_t tid, uint64_t time, uint32_t name) {
  std::vector<Since>& list = comms[tid];
  if (!list.empty() && list.back().value == name) return;
  if (!list.empty() && list.back().from == time) {
    list.back().value = name;
  } else {
    list.push_back({time, name});
  }
}

uint32_t ProcessTable::State::StartEpoch(uint32_t pid, uint64_t time) {
  const uint32_t epoch = static_cast<uint32_t>(epochs.size());
  epochs.push_back({.space = {}, .pid = pid, .from = time});
  epochs.back().space.owner = tree.NewOwner();
  std::vector<Since>& list = processes[pid];
  if (!list.empty() && list.back().from == time) {
    list.back().value = epoch;  // fork and exec, or two execs, in one tick of the clock
  } else {
    list.push_back({time, epoch});
  }
  return epoch;
}

uint32_t ProcessTable::State::CurrentEpoch(uint32_t pid, uint64_t time) {
  const auto it = processes.find(pid);
  return it != processes.end() ? it->second.back().value : StartEpoch(pid, time);
}

void ProcessTable::State::ApplyFork(const Change& change) {
  if (const auto comm = comms.find(change.parent_thread); comm != comms.end() && !change.synthesised) {
    const uint32_t inherited = comm->second.back().value;
    SetComm(change.tid, change.time, inherited);
  }
  const bool new_thread = change.pid == change.parent;
  if (new_thread || change.synthesised) {
    CurrentEpoch(change.pid, change.time);
    return;
  }
  const auto parent = processes.find(change.parent);
  const uint32_t from = parent == processes.end() ? kNoMapping : parent->second.back().value;
  const uint32_t number = StartEpoch(change.pid, change.time);
  Epoch& child = epochs[number];
  if (from == kNoMapping) return;
  if (const auto code = generated.find(from); code != generated.end()) {
    AddressSpace inherited;
    inherited.versions.front().value = code->second.last_root();
    inherited.owner = tree.NewOwner();
    code->second.owner = tree.NewOwner();
    generated.emplace(number, std::move(inherited));
  }
  Epoch& forked = epochs[from];
  child.space.versions.front().value = forked.space.last_root();
  child.app = forked.app;
  forked.space.owner = tree.NewOwner();  // The nodes of its last version are the child's too from now on.
}

uint32_t ProcessTable::State::AddMapping(const Change& change) {
  mappings.push_back({.start = ProcessAddress(change.start),
                      .end = ProcessAddress(change.end),
                      .file_offset = FileOffset(change.file_offset),
                      .image = change.subject,
                      .executable = change.executable});
  return static_cast<uint32_t>(mappings.size() - 1);
}

void ProcessTable::State::Assign(AddressSpace& space, uint64_t time, const MappingTree::Piece& piece) {
  const bool replaces = tree.Overlaps(space.last_root(), piece.start, piece.end);
  if (replaces && time > space.versions.back().from) {
    space.versions.push_back({time, space.last_root()});
    space.owner = tree.NewOwner();
  }
  space.versions.back().value = tree.Assign(space.last_root(), space.owner, piece);
}

void ProcessTable::State::ApplyMap(const Change& change) {
  Epoch& epoch = epochs[CurrentEpoch(change.pid, change.time)];
  if (epoch.app == kNoName && change.executable && images[change.subject].kind == ImageKind::kFile) {
    epoch.app = names.Intern(Basename(images[change.subject].path));
  }
  // Synthesised and real records of one mapping: nothing new.
  MappingTree::Piece now;
  if (tree.Find(epoch.space.last_root(), change.start, &now) && now.start == change.start &&
      now.end == change.end && now.mapping != kNoMapping) {
    const Mapping& known = mappings[now.mapping];
    if (known.image == change.subject && known.executable == change.executable &&
        known.ToFileOffset(ProcessAddress(change.start)).value == change.file_offset) {
      return;
    }
  }
  Assign(epoch.space, change.time, {change.start, change.end, AddMapping(change)});
  const auto code = generated.find(static_cast<uint32_t>(&epoch - epochs.data()));
  if (code == generated.end() || images[change.subject].kind != ImageKind::kFile) return;
  if (tree.Overlaps(code->second.last_root(), change.start, change.end))
    Assign(code->second, change.time, {change.start, change.end, kNoMapping});
}

void ProcessTable::State::ApplyGenerated(const Change& change) {
  const uint32_t epoch = CurrentEpoch(change.pid, change.time);
  const auto [code, is_first] = generated.try_emplace(epoch);
  if (is_first) code->second.owner = tree.NewOwner();
  Assign(code->second, change.time, {change.start, change.end, AddMapping(change)});
}

void ProcessTable::State::Apply(const Change& change) {
  switch (change.kind) {
    case ChangeKind::kMap:
      return ApplyMap(change);
    case ChangeKind::kGenerated:
      return ApplyGenerated(change);
    case ChangeKind::kKernelMap:
      return Assign(kernel, change.time, {change.start, change.end, AddMapping(change)});
    case ChangeKind::kKernelUnmap:
      return Assign(kernel, change.time, {change.start, change.end, kNoMapping});
    case ChangeKind::kFork:
      return ApplyFork(change);
    case ChangeKind::kExec:
      StartEpoch(change.pid, change.time);
      return SetComm(change.tid, change.time, change.subject);
    case ChangeKind::kComm:
      CurrentEpoch(change.pid, change.time);
      return SetComm(change.tid, change.time, change.subject);
  }
}

// Processes that map no file are called by their comm: kernel threads above all, which get their own name
// only after the fork, so the last one counts.
void ProcessTable::State::NameApplications() {
  for (const auto& [pid, list] : processes) {
    const auto comm = comms.find(pid);
    for (size_t i = 0; i < list.size(); ++i) {
      uint32_t& app = epochs[list[i].value].app;
      if (app != kNoName) continue;
      app = comm == comms.end() ? names.Intern("[unknown]")
                                : comm->second[IndexAt(comm->second, SpanOf(list, i).second - 1)].value;
    }
  }
}

// ---- questions ----

FoundMapping ProcessTable::State::FindIn(const AddressSpace& space, ProcessAddress ip, uint64_t time) const {
  const size_t at = IndexAt(space.versions, time);
  const auto [from, until] = SpanOf(space.versions, at);
  MappingTree::Piece piece;
  FoundMapping found{.start = ip, .end = ip + 1, .from = from, .until = until};
  if (tree.Find(space.versions[at].value, ip.value, &piece)) {
    found.start = ProcessAddress(piece.start);
    found.end = ProcessAddress(piece.end);
  } else {
    const size_t next = std::min(at + 1, space.versions.size() - 1);
    if (!tree.Find(space.versions[next].value, ip.value, &piece) &&
        !tree.Find(space.last_root(), ip.value, &piece)) {
      return found;
    }
  }
  if (piece.mapping != kNoMapping) found.mapping = &mappings[piece.mapping];
  return found;
}

// Anything FindIn could find between the two: in the version of that time, the next or the last.
bool ProcessTable::State::HasGenerated(const AddressSpace& code, ProcessAddress start, ProcessAddress end,
                                       uint64_t time) const {
  const size_t at = IndexAt(code.versions, time), next = std::min(at + 1, code.versions.size() - 1);
  for (const uint32_t root : {code.versions[at].value, code.versions[next].value, code.last_root()})
    if (tree.Overlaps(root, start.value, end.value)) return true;
  return false;
}

std::optional<ProcessState> ProcessTable::StateAt(uint32_t pid, uint64_t time) const {
  const auto it = state_->processes.find(pid);
  if (it == state_->processes.end()) return std::nullopt;
  const size_t at = IndexAt(it->second, time);
  const auto [from, until] = SpanOf(it->second, at);
  const uint32_t epoch = it->second[at].value;
  return ProcessState{.epoch = epoch, .app = state_->epochs[epoch].app, .from = from, .until = until};
}

FoundMapping ProcessTable::Find(uint32_t epoch, ProcessAddress ip, uint64_t time) const {
  const FoundMapping mapped = state_->FindIn(state_->epochs[epoch].space, ip, time);
  if (state_->generated.empty()) return mapped;
  const auto code = state_->generated.find(epoch);
  if (code == state_->generated.end()) return mapped;
  FoundMapping found = state_->FindIn(code->second, ip, time);
  if (found.mapping == nullptr) {
    found.mapping = mapped.mapping;
    const bool amid_code = state_->HasGenerated(code->second, mapped.start, mapped.end, time);
    found.start = amid_code ? ip : mapped.start;
    found.end = amid_code ? ip + 1 : mapped.end;
  }
  found.from = std::max(found.from, mapped.from);
  found.until = std::min(found.until, mapped.until);
  return found;
}

FoundMapping ProcessTable::FindKernel(ProcessAddress ip, uint64_t time) const {
  return state_->FindIn(state_->kernel, ip, time);
}

bool ProcessTable::has_kernel_map() const {
  return state_->has_kernel_map;
}

std::optional<ThreadComm> ProcessTable::CommAt(uint32_t tid, uint64_t time) const {
  const auto it = state_->comms.find(tid);
  if (it == state_->comms.end()) return std::nullopt;
  const size_t at = IndexAt(it->second, time);
  const auto [from, until] = SpanOf(it->second, at);
  return ThreadComm{.name = it->second[at].value, .from = from, .until = until};
}

const std::vector<Image>& ProcessTable::images() const {
  return state_->images;
}

const StringPool& ProcessTable::names() const {
  return state_->names;
}

std::string_view ProcessTable::kernel_reference_symbol() const {
  return state_->kernel_reference_symbol;
}

uint64_t ProcessTable::kernel_reference_address() const {
  return state_->kernel_reference_address;
}

std::optional<uint32_t> ProcessTable::ProcessOfThread(uint32_t tid) const {
  const auto it = state_->process_of_thread.find(tid);
  if (it == state_->process_of_thread.end()) return std::nullopt;
  return it->second;
}

ProcessTable::ProcessTable(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProcessTable::ProcessTable(ProcessTable&&) noexcept = default;
ProcessTable& ProcessTable::operator=(ProcessTable&&) noexcept = default;
ProcessTable::~ProcessTable() = default;

// ---- the builder ----

ProcessTable::Builder::Builder() : state_(std::make_unique<State>()) {}
ProcessTable::Builder::~Builder() = default;

void ProcessTable::Builder::Add(uint64_t time, const Record& record) {
  State& state = *state_;
  if (const auto* map = std::get_if<MmapRecord>(&record.body)) {
    state.AddMap(time, *map);
  } else if (const auto* comm = std::get_if<CommRecord>(&record.body)) {
    state.process_of_thread[comm->tid] = comm->pid;
    state.changes.push_back({.time = time,
                             .kind = comm->exec ? ChangeKind::kExec : ChangeKind::kComm,
                             .pid = comm->pid,
                             .tid = comm->tid,
                             .subject = state.names.Intern(comm->comm)});
  } else if (const auto* fork = std::get_if<ForkRecord>(&record.body)) {
    state.process_of_thread[fork->tid] = fork->pid;
    state.changes.push_back({.time = time,
                             .kind = ChangeKind::kFork,
                             .synthesised = fork->time == 0,
                             .pid = fork->pid,
                             .tid = fork->tid,
                             .parent = fork->ppid,
                             .parent_thread = fork->ptid});
  } else if (const auto* symbol = std::get_if<KsymbolRecord>(&record.body)) {
    const uint64_t end =
        CheckedAdd(symbol->addr, symbol->length).value_or(std::numeric_limits<uint64_t>::max());
    if (end <= symbol->addr) return;
    Change change{.time = time, .kind = ChangeKind::kKernelUnmap, .start = symbol->addr, .end = end};
    if (!symbol->unregister) {
      change.kind = ChangeKind::kKernelMap;
      MmapRecord where;
      where.pid = kKernelPid;
      where.addr = symbol->addr;
      change.subject = state.InternImage({.kind = ImageKind::kBpf, .path = symbol->name}, where, end);
    }
    state.changes.push_back(change);
  }
}

void ProcessTable::Builder::AddGenerated(const std::string& path, const GeneratedCode& code) {
  if (code.end <= code.start) return;
  MmapRecord where;
  where.pid = code.pid;
  Change change{.time = code.time, .kind = ChangeKind::kGenerated, .pid = code.pid, .tid = code.pid};
  change.subject = state_->InternImage({.kind = ImageKind::kJitDump, .path = path}, where, 0);
  change.start = code.start;
  change.end = code.end;
  change.file_offset = code.place;
  state_->changes.push_back(change);
}

ProcessTable ProcessTable::Builder::Build() && {
  State& state = *state_;
  std::stable_sort(state.changes.begin(), state.changes.end(),
                   [](const Change& a, const Change& b) { return a.time < b.time; });
  state.kernel.owner = state.tree.NewOwner();
  for (const Change& change : state.changes) state.Apply(change);
  state.NameApplications();
  state.changes = {};
  state.image_by_key = {};
  state.paths = {};
  state.build_ids = {};
  return ProcessTable(std::move(state_));
}

}  // namespace ksamp
