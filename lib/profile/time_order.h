// SPDX-License-Identifier: Apache-2.0
// TimeOrder: items that arrive in nearly the order of time -> in the order of time.
//
// A recording holds the rings of several CPUs one behind the other, over and over. A FINISHED_ROUND record
// promises that nothing behind it is older than what was newest at the round before: so much can go out, and
// what waits is two rounds of the recorder, not the whole recording. Without such records everything waits
// for Finish. Items of one time keep their order of arrival.
//
//   TimeOrder<const std::byte*> order;
//   order.Add(time, record);
//   order.FinishRound(emit);      // bool emit(const std::byte*&): false stops
//   order.Finish(emit);
#ifndef KSAMP_LIB_PROFILE_TIME_ORDER_H_
#define KSAMP_LIB_PROFILE_TIME_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ksamp {

template <typename Item>
class TimeOrder {
 public:
  void Add(uint64_t time, const Item& item) {
    waiting_.push_back({time, item});
    newest_ = std::max(newest_, time);
  }

  // False: `emit` asked to stop.
  template <typename Fn>
  bool FinishRound(Fn&& emit) {
    Sort();
    const auto end = std::upper_bound(waiting_.begin(), waiting_.end(), settled_,
                                      [](uint64_t time, const Entry& entry) { return time < entry.time; });
    settled_ = newest_;
    return Emit(static_cast<size_t>(end - waiting_.begin()), emit);
  }
  template <typename Fn>
  bool Finish(Fn&& emit) {
    Sort();
    return Emit(waiting_.size(), emit);
  }

 private:
  struct Entry {
    uint64_t time;
    Item item;
  };
  static bool Earlier(const Entry& a, const Entry& b) { return a.time < b.time; }

  // The front `sorted_` items are in order already.
  void Sort() {
    const auto middle = waiting_.begin() + static_cast<ptrdiff_t>(sorted_);
    if (!std::is_sorted(middle, waiting_.end(), Earlier)) std::stable_sort(middle, waiting_.end(), Earlier);
    if (middle != waiting_.begin() && middle != waiting_.end() && Earlier(*middle, *(middle - 1)))
      std::inplace_merge(waiting_.begin(), middle, waiting_.end(), Earlier);
    sorted_ = waiting_.size();
  }

  template <typename Fn>
  bool Emit(size_t count, Fn& emit) {
    for (size_t i = 0; i < count; ++i)
      if (!emit(waiting_[i].item)) return false;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(count));
    sorted_ = waiting_.size();
    return true;
  }

  std::vector<Entry> waiting_;
  size_t sorted_ = 0;
  uint64_t newest_ = 0;
  uint64_t settled_ = 0;  // nothing older than this can come any more
};

}  // namespace ksamp

#endif  // KSAMP_LIB_PROFILE_TIME_ORDER_H_
