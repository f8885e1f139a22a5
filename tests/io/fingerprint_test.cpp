// Checksums: every bit counts, and so does the order.
#include "heed/io/fingerprint.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace heed::io {
namespace {

std::uint64_t of(const std::string& text) { return fingerprint(std::as_bytes(std::span(text))); }

TEST(Fingerprint, DependsOnEveryBitAndTheirOrder) {
  const std::string text = "seventeen bytes..";
  std::set<std::uint64_t> seen = {of(text), of(""), of("seventeen"), of("neevesteen bytes..")};
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      seen.insert(of(other));
    }
  }
  EXPECT_EQ(seen.size(), 4 + 8 * text.size());
  EXPECT_EQ(of(text), of(std::string(text)));
}

}  // namespace
}  // namespace heed::io
