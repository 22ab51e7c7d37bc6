// SPDX-License-Identifier: Apache-2.0
// StringPool interns names: one small number per distinct text, numbers dense from 0 in order of first sight.
//
//   StringPool pool;
//   uint32_t id = pool.Intern("bash");
//   pool.Get(id);  // "bash"; the view lives as long as the pool
//
// Not synchronised. Moving the pool keeps its views valid; it cannot be copied, since its views could not.
#ifndef KSAMP_LIB_BASE_STRING_POOL_H_
#define KSAMP_LIB_BASE_STRING_POOL_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ksamp {

class StringPool {
 public:
  StringPool() = default;
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  uint32_t Intern(std::string_view text) {
    if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    const uint32_t id = static_cast<uint32_t>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  // Requires: `id` came from Intern of this pool.
  std::string_view Get(uint32_t id) const { return texts_[id]; }
  std::optional<uint32_t> Find(std::string_view text) const {
    auto it = ids_.find(text);
    if (it == ids_.end()) return std::nullopt;
    return it->second;
  }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // Stable addresses: the map's keys point here.
  std::unordered_map<std::string_view, uint32_t> ids_;
};

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_STRING_POOL_H_
