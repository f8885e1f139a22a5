// What all ranks do together, made from Communicator::exchange. Every rank calls the same functions
// in the same order. Messages go directly from each rank to each other one: a rank that is lost is
// then missing in the messages of all others, which can name it.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "heed/base/threads.h"
#include "heed/distributed/communicator.h"

namespace heed {

/// The texts of all ranks, in their order.
std::vector<std::string> gather_texts(Communicator& ranks, std::string_view own);

/// The text of rank 0.
std::string text_of_first(Communicator& ranks, std::string_view own);

/// The values of all ranks, one after another; counts[r] is the number of those of rank r, which
/// every rank knows.
template <typename T>
std::vector<T> gather_values(Communicator& ranks, std::span<const T> own,
                             std::span<const std::size_t> counts) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all;
  std::size_t total = 0;
  for (const std::size_t count : counts) total += count;
  all.resize(total);
  std::vector<Outgoing> sent;
  std::vector<Incoming> received;
  std::size_t at = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    const std::span<T> place = std::span(all).subspan(at, counts[static_cast<std::size_t>(r)]);
    at += place.size();
    if (r == ranks.rank()) {
      HEED_ASSERT(own.size() == place.size());
      if (!own.empty()) std::memcpy(place.data(), own.data(), own.size_bytes());
      continue;
    }
    if (!own.empty()) sent.push_back({r, std::as_bytes(own)});
    if (!place.empty()) received.push_back({r, std::as_writable_bytes(place)});
  }
  ranks.exchange(sent, received);
  return all;
}

/// The values of all ranks, one each.
template <typename T>
std::vector<T> gather_values(Communicator& ranks, const T& own) {
  const std::vector<std::size_t> counts(static_cast<std::size_t>(ranks.size()), 1);
  return gather_values(ranks, std::span<const T>(&own, 1), counts);
}

/// Whether it holds on all ranks.
bool holds_everywhere(Communicator& ranks, bool here);

/// Does the work of this rank, then waits for the others. If the work of a rank throws, all ranks
/// throw SharedError, which names those that failed; if it was only interrupted, all throw
/// Interrupted. A process on its own throws what the work throws.
void together(Communicator& ranks, FunctionRef<void()> work);

/// Throws SharedError if a text differs from that of rank 0: lines of "key = value". The message
/// names each differing line, rank by rank; `remedy` ends it.
void check_same(Communicator& ranks, std::string_view lines, std::string_view remedy);

}  // namespace heed
