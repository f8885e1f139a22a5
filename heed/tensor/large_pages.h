// Memory for weights that are read from front to back in every step of a decoding: pieces of chunks
// that consist of pages of 2 MB, where the system has them. Most matrices of a model are smaller
// than such a page, so that they share chunks. With pages of 4 KB, a core reads weights from memory
// a fifth slower: each page needs a lookup of its address, and hardware stops fetching ahead at its
// end.
#pragma once

#include <cstddef>
#include <memory>

namespace heed {

/// So many bytes, aligned to a cache line. The memory of a chunk is given back when the last block
/// in it is released. Throws heed::Error if the system has no more.
std::shared_ptr<std::byte> large_page_block(std::size_t bytes);

}  // namespace heed
