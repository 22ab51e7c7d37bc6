// SPDX-License-Identifier: Apache-2.0
// Pager: long text on a terminal goes through $KSAMP_PAGER, $PAGER or less; anywhere else it goes straight
// out.
//
//   Pager pager(world, PagerUse::kWhereUseful);
//   WriteReport(profile, options, pager.out());
//   return pager.Finish();                          // OK also where the reader left early
#ifndef KSAMP_TOOLS_PAGER_H_
#define KSAMP_TOOLS_PAGER_H_

#include <sys/types.h>

#include <memory>
#include <ostream>

#include "absl/status/status.h"
#include "lib/base/unique_fd.h"
#include "tools/fd_stream.h"
#include "tools/world.h"

namespace ksamp {

enum class PagerUse { kWhereUseful, kNever };

class Pager {
 public:
  Pager(World& world, PagerUse use);
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  std::ostream& out() { return stream_ ? *stream_ : *world_.out; }
  // Writes what is left, waits for the reader. The status of writing; EPIPE (`| head`, q) is in it.
  absl::Status Finish();

 private:
  void Start(const std::string& command, World& world);

  World& world_;
  std::unique_ptr<FdStream> stream_;
  UniqueFd pipe_;
  pid_t child_ = -1;
};

}  // namespace ksamp

#endif  // KSAMP_TOOLS_PAGER_H_
