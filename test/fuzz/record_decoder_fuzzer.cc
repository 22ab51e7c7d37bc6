// SPDX-License-Identifier: Apache-2.0
// Input: sample_type (8 bytes), read_format and branch flags (1 byte each), registers (1 byte), sample_id_all
// (1 byte), then one record, header included. Whatever it holds, decoding and turning it stay inside it.
#include <linux/perf_event.h>

#include <cstring>
#include <vector>

#include "lib/base/byte_reader.h"
#include "lib/event/record_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ksamp::ByteReader in(std::as_bytes(std::span(data, size)));
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = in.Read<uint64_t>();
  attr.read_format = in.Read<uint8_t>();
  attr.branch_sample_type = uint64_t{in.Read<uint8_t>()} << 14;
  attr.sample_regs_user = attr.sample_regs_intr = in.Read<uint8_t>();
  attr.sample_id_all = in.Read<uint8_t>() & 1;
  if (!in.ok() || in.remaining() < sizeof(perf_event_header)) return 0;
  const auto layout = ksamp::SampleLayout::FromAttr(std::as_bytes(std::span(&attr, 1)));
  if (!layout.ok()) return 0;

  // Memory from operator new is aligned, as the decoder asks for, and has the record's exact size.
  std::vector<std::byte> record(in.rest().begin(), in.rest().end());
  perf_event_header header;
  std::memcpy(&header, record.data(), sizeof(header));
  const ksamp::RawRecord raw{header.type, header.misc, record, 0};
  const absl::StatusOr<ksamp::Record> decoded = ksamp::DecodeRecord(raw, *layout);
  if (decoded.ok()) {
    if (const auto* sample = std::get_if<ksamp::SampleRecord>(&decoded->body))
      (void)ksamp::DecodeBranchStack(*sample, *layout);
  }
  (void)ksamp::SwapRecord(record, *layout).ok();
  return 0;
}
