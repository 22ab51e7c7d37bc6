// SPDX-License-Identifier: Apache-2.0
// TraceFields: where the fields of one tracepoint lie in its raw bytes.
//
//   ParseTraceField("\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;", fields);
//   const TraceField* field = fields.Find("prev_comm");
//   TextOf(fields.Bytes(*field, raw))                                  // "gzip"
//
// Raw bytes and the places in them come from elsewhere: what lies outside reads as 0 and as nothing.
#ifndef KSAMP_LIB_EVENT_TRACE_FIELDS_H_
#define KSAMP_LIB_EVENT_TRACE_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ksamp {

struct TraceField {
  std::string name;
  uint32_t offset = 0, size = 0;
  bool is_signed = false;
  bool is_array = false;     // char comm[16], u8 addr[4]
  bool is_text = false;      // an array of char
  bool is_dynamic = false;   // __data_loc: its place and size stand in the field
  bool is_relative = false;  // __rel_loc: likewise, counted from the field's end
  bool is_pointer = false;
};

class TraceFields {
 public:
  explicit TraceFields(bool foreign = false) : foreign_(foreign) {}

  void Add(TraceField field) { fields_.push_back(std::move(field)); }
  const std::vector<TraceField>& all() const { return fields_; }
  const TraceField* Find(std::string_view name) const;

  // Sign-extended where the field is signed.
  uint64_t Number(const TraceField& field, std::span<const std::byte> raw) const;
  // Of arrays and dynamic fields; of others, the number's own bytes.
  std::span<const std::byte> Bytes(const TraceField& field, std::span<const std::byte> raw) const;

 private:
  bool foreign_;  // raw bytes in the other byte order
  std::vector<TraceField> fields_;
};

// One line of a format file; false: it describes no field.
bool ParseTraceField(std::string_view line, TraceFields& fields);

// Up to the first NUL.
std::string_view TextOf(std::span<const std::byte> bytes);

}  // namespace ksamp

#endif  // KSAMP_LIB_EVENT_TRACE_FIELDS_H_
