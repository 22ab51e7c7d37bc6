// SPDX-License-Identifier: Apache-2.0
#include "tools/fd_stream.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "lib/base/file_io.h"

namespace ksamp {

FdStreambuf::FdStreambuf(int fd, std::string name)
    : fd_(fd), name_(std::move(name)), buffer_(new char[kBufferBytes]) {
  setp(buffer_.get(), buffer_.get() + kBufferBytes);
}

bool FdStreambuf::Write(const char* text, size_t size) {
  if (status_.ok() && size > 0) status_ = WriteAll(fd_, std::as_bytes(std::span(text, size)), name_);
  return status_.ok();
}

int FdStreambuf::sync() {
  const bool written = Write(pbase(), static_cast<size_t>(pptr() - pbase()));
  setp(buffer_.get(), buffer_.get() + kBufferBytes);
  return written ? 0 : -1;
}

FdStreambuf::int_type FdStreambuf::overflow(int_type c) {
  if (sync() != 0) return traits_type::eof();
  if (!traits_type::eq_int_type(c, traits_type::eof())) {
    *pptr() = traits_type::to_char_type(c);
    pbump(1);
  }
  return traits_type::not_eof(c);
}

std::streamsize FdStreambuf::xsputn(const char* text, std::streamsize size) {
  if (size > epptr() - pptr() && sync() != 0) return 0;
  if (size > epptr() - pptr()) return Write(text, static_cast<size_t>(size)) ? size : 0;
  std::memcpy(pptr(), text, static_cast<size_t>(size));
  pbump(static_cast<int>(size));
  return size;
}

absl::Status FlushStatus(std::ostream& out) {
  out.flush();
  if (const auto* buffer = dynamic_cast<const FdStreambuf*>(out.rdbuf()); buffer != nullptr)
    return buffer->status();
  return out ? absl::OkStatus() : absl::UnavailableError("write output: the stream failed");
}

}  // namespace ksamp
