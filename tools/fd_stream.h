// SPDX-License-Identifier: Apache-2.0
// FdStream: an std::ostream over a descriptor that remembers why writing failed.
//
// std::cout forgets the errno, and a reader that went away (EPIPE: `| head`) must end quietly while a full
// disk must not.
#ifndef KSAMP_TOOLS_FD_STREAM_H_
#define KSAMP_TOOLS_FD_STREAM_H_

#include <memory>
#include <ostream>
#include <streambuf>
#include <string>

#include "absl/status/status.h"

namespace ksamp {

class FdStreambuf : public std::streambuf {
 public:
  FdStreambuf(int fd, std::string name);
  ~FdStreambuf() override { sync(); }
  // The first failure, or OK.
  const absl::Status& status() const { return status_; }

 protected:
  int_type overflow(int_type c) override;
  int sync() override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;

 private:
  bool Write(const char* text, size_t size);

  static constexpr size_t kBufferBytes = 64 << 10;
  int fd_;  // not owned
  std::string name_;
  std::unique_ptr<char[]> buffer_;
  absl::Status status_;
};

class FdStream : public std::ostream {
 public:
  FdStream(int fd, std::string name) : std::ostream(nullptr), buffer_(fd, std::move(name)) {
    rdbuf(&buffer_);
  }

 private:
  FdStreambuf buffer_;
};

// Flushes `out`; why it failed, as far as the stream knows.
absl::Status FlushStatus(std::ostream& out);

}  // namespace ksamp

#endif  // KSAMP_TOOLS_FD_STREAM_H_
