// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/key_numbers.h"

#include <map>

namespace ksamp {
namespace {

// A key with its names spelled out: comparable across counters.
using SpelledKey =
    std::tuple<uint32_t /*event*/, std::string_view /*app*/, std::string_view /*comm*/, uint32_t /*pid*/,
               uint32_t /*tid*/, uint32_t /*cpu*/, bool /*idle*/, bool /*has app*/, bool /*has comm*/>;

SpelledKey Spell(const ProfileKey& key, const KeyNumbers& numbers) {
  const bool has_app = key.app != kNone32, has_comm = key.comm != kNone32;
  return {key.event,
          has_app ? numbers.Name(key.app) : std::string_view(),
          has_comm ? numbers.Name(key.comm) : std::string_view(),
          key.pid,
          key.tid,
          key.cpu,
          key.idle_task,
          has_app,
          has_comm};
}

}  // namespace

KeyNumbers::Pair KeyNumbers::Of(uint32_t event, uint32_t pid, uint32_t tid, uint32_t cpu,
                                const std::optional<ProcessState>& state,
                                const std::optional<ThreadComm>& comm) {
  const Separation& separate = plan_.options->separate;
  const CountedEvent& counted = plan_.events[event];
  ProfileKey key{.event = event};
  if (separate.comm) key.comm = comm ? comm->name : ExtraName(UnnamedThread(tid));
  if (separate.process || separate.thread) key.pid = pid;
  if (separate.thread) key.tid = tid;
  if (separate.cpu && counted.has_cpu) key.cpu = cpu;
  ProfileKey user = key, kernel = key;
  const uint32_t app = state ? state->app : comm ? comm->name : ExtraName("[unknown]");
  if (separate.library) user.app = app;
  if (separate.kernel) kernel.app = app;
  kernel.idle_task = counted.clock && pid == 0 && !plan_.options->count_idle;
  const uint32_t user_number = Intern(user);
  return {.user = user_number, .kernel = Intern(kernel)};
}

std::string_view KeyNumbers::Name(uint32_t id) const {
  const StringPool& names = plan_.table->names();
  return id < names.size() ? names.Get(id) : extra_names_.Get(id - static_cast<uint32_t>(names.size()));
}

uint32_t KeyNumbers::Intern(const ProfileKey& key) {
  const KeyTuple tuple{key.event, key.app, key.comm, key.pid, key.tid, key.cpu, key.idle_task};
  const auto [it, added] = key_ids_.try_emplace(tuple, static_cast<uint32_t>(keys_.size()));
  if (added) keys_.push_back(key);
  return it->second;
}

uint32_t KeyNumbers::ExtraName(const std::string& text) {
  const StringPool& names = plan_.table->names();
  return static_cast<uint32_t>(names.size()) + extra_names_.Intern(text);
}

std::vector<std::vector<uint32_t>> MergeKeys(const std::vector<CountedKeys>& counted, Profile& profile) {
  std::map<SpelledKey, uint32_t> keys;
  std::map<std::string_view, uint32_t> names;
  for (const CountedKeys& one : counted) {
    const KeyNumbers& numbers = *one.numbers;
    for (size_t i = 0; i < numbers.keys().size(); ++i) {
      if (!one.used[i]) continue;
      const ProfileKey& key = numbers.keys()[i];
      if (key.app != kNone32) names.emplace(numbers.Name(key.app), 0);
      if (key.comm != kNone32) names.emplace(numbers.Name(key.comm), 0);
      keys.emplace(Spell(key, numbers), 0);
    }
  }
  for (auto& [text, id] : names) {
    id = static_cast<uint32_t>(profile.names.size());
    profile.names.emplace_back(text);
  }
  for (auto& [spelled, id] : keys) {
    id = static_cast<uint32_t>(profile.keys.size());
    const auto& [event, app, comm, pid, tid, cpu, idle, has_app, has_comm] = spelled;
    profile.keys.push_back({.event = event,
                            .app = has_app ? names.at(app) : kNone32,
                            .comm = has_comm ? names.at(comm) : kNone32,
                            .pid = pid,
                            .tid = tid,
                            .cpu = cpu,
                            .idle_task = idle});
  }
  std::vector<std::vector<uint32_t>> renumbered;
  for (const CountedKeys& one : counted) {
    const std::vector<ProfileKey>& met = one.numbers->keys();
    std::vector<uint32_t>& numbers = renumbered.emplace_back(met.size(), kNone32);
    for (size_t i = 0; i < met.size(); ++i)
      if (one.used[i]) numbers[i] = keys.at(Spell(met[i], *one.numbers));
  }
  return renumbered;
}

}  // namespace ksamp
