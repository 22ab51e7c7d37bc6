// SPDX-License-Identifier: Apache-2.0
#include "lib/report/table.h"

#include <ostream>

namespace ksamp {

bool TextSink::Flush() {
  out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.clear();
  return static_cast<bool>(out_);
}

}  // namespace ksamp
