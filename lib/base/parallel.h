// SPDX-License-Identifier: Apache-2.0
// ParallelFor: run one function over [0, count) on several threads and come back when all is done.
//
//   ParallelFor(chunks.size(), threads, [&](size_t index, unsigned worker) { CountChunk(chunks[index],
//   tables[worker]); });
//
// Indices are handed out one at a time, so uneven work balances. `worker` is below max(1, threads) and no two
// calls with the same worker overlap: use it to index thread-local state. With one thread, everything runs in
// the caller.
#ifndef KSAMP_LIB_BASE_PARALLEL_H_
#define KSAMP_LIB_BASE_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace ksamp {

// CPUs this process may run on (sched_getaffinity), at least 1.
unsigned AvailableCpus();

void ParallelFor(size_t count, unsigned threads,
                 const std::function<void(size_t index, unsigned worker)>& body);

}  // namespace ksamp

#endif  // KSAMP_LIB_BASE_PARALLEL_H_
