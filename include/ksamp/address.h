// SPDX-License-Identifier: Apache-2.0
// The three kinds of address of a profiler, as types that do not convert into each other.
//
// Most wrong symbols come from mixing them up:
//
//   ProcessAddress   what the CPU saw: the ip of a sample, a line of /proc/PID/maps, /proc/kallsyms.
//   FileOffset       a position in the image file. mmap maps file offsets to process addresses.
//   ElfAddress       what `nm`, `objdump -d` and `gdb` print for the file. PT_LOAD segments map file offsets
//   to it.
//
//   ProcessAddress --(mapping: ip - start + pgoff)--> FileOffset --(PT_LOAD: offset - p_offset + p_vaddr)-->
//   ElfAddress
//
// doc/addresses.md works one example through. The conversions live in one place each: Mapping::ToFileOffset
// (lib/process/mapping.h) and ElfImage::ToElfAddress (lib/object/elf_image.h).
#ifndef KSAMP_ADDRESS_H_
#define KSAMP_ADDRESS_H_

#include <compare>
#include <cstdint>

namespace ksamp {

// An address of kind `Tag`. Arithmetic is on the value: the sum of two addresses means nothing.
template <typename Tag>
struct Address {
  uint64_t value = 0;
  constexpr Address() = default;
  constexpr explicit Address(uint64_t v) : value(v) {}
  friend constexpr auto operator<=>(Address, Address) = default;
  friend constexpr Address operator+(Address a, uint64_t bytes) { return Address(a.value + bytes); }
  friend constexpr uint64_t operator-(Address a, Address b) { return a.value - b.value; }
};

using ProcessAddress = Address<struct ProcessAddressTag>;
using FileOffset = Address<struct FileOffsetTag>;
using ElfAddress = Address<struct ElfAddressTag>;

}  // namespace ksamp

#endif  // KSAMP_ADDRESS_H_
