// Counts what the process, all threads and libraries included, asks of the system's allocator:
// malloc and its relatives are replaced in this program (operator new ends there too). Left out is
// oneDNN, whose sgemm takes a buffer for packed matrices at each call and returns it at the end.
#pragma once

#include <cstdint>

namespace heed::test {

/// Makes the n-th of the calls that follow (from 1) fail, once; 0: none.
void fail_allocation(std::uint64_t n);

/// Calls of malloc, calloc, realloc and the aligned ones since the program started.
std::uint64_t allocations();

}  // namespace heed::test
