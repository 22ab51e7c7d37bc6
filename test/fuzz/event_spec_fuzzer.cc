// SPDX-License-Identifier: Apache-2.0
// Input: the text of one -e argument. The first byte's lowest bit chooses a machine with one kind of core or
// two.
#include "ksamp/event_spec.h"
#include "test/support/table_catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ksamp::testing::TableCatalog kPlain = ksamp::testing::PlainMachine();
  static const ksamp::testing::TableCatalog kHybrid = ksamp::testing::HybridMachine();
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)ksamp::ParseEvents(text, (data[0] & 1) != 0 ? kPlain : kHybrid).ok();
  (void)ksamp::DescribeEvent(text);
  return 0;
}
