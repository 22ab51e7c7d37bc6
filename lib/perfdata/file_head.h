// SPDX-License-Identifier: Apache-2.0
// What stands around the records in a perf.data file: header, attrs, our block, feature table.
//
//   KSAMP_ASSIGN_OR_RETURN(FileHead head, ReadFileHead(file.bytes(), "perf.data"));
//   Sweep(file.bytes().subspan(head.data.offset, head.data.size), ...);
//
// InvalidArgument: not a recording. DataLoss: header or attrs unusable. Everything less is put into `damage`.
// Spans point into the file.
#ifndef KSAMP_LIB_PERFDATA_FILE_HEAD_H_
#define KSAMP_LIB_PERFDATA_FILE_HEAD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ksamp/perf_data.h"
#include "lib/perfdata/format.h"

namespace ksamp::perfdata {

struct FileHead {
  bool piped = false;    // header of 16 bytes: attrs and features come as records
  bool foreign = false;  // the other byte order
  bool killed = false;   // data.size was never final; `data` reaches to the end of the file
  Section data;          // lies inside the file
  struct Attr {
    std::vector<std::byte> attr;  // host byte order
    std::vector<uint64_t> ids;
  };
  std::vector<Attr> attrs;
  std::map<unsigned, std::span<const std::byte>> features;  // of the table; else of our block before the data
  std::vector<Damage> damage;
};

absl::StatusOr<FileHead> ReadFileHead(std::span<const std::byte> file, const std::string& name);

}  // namespace ksamp::perfdata

#endif  // KSAMP_LIB_PERFDATA_FILE_HEAD_H_
