#include "heed/text/pipeline/charsmap.h"

#include <cstring>

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed::pipeline {
namespace {

// The fields of a unit of the trie: bits 0 to 7 and 31 are the label, bit 8 says that a value
// follows, bits 10 to 30 are the offset, multiplied by 256 if bit 9 is set.
std::uint32_t unit_offset(std::uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }
std::uint32_t unit_label(std::uint32_t unit) { return unit & (1u << 31 | 0xFF); }
bool unit_has_value(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }

constexpr std::size_t kLongestCluster = 5;  // bytes of a cluster that rules are tried on as a whole

// Replaces `old_count` characters. Characters that are more than before are inserted ones; those
// that are fewer are removed after the last one, if there is one.
void replace_characters(std::vector<unicode::Change>& changes, std::string_view replacement,
                        int old_count) {
  int new_count = 0;
  for (; !replacement.empty(); ++new_count) {
    const unicode::CodePoint point = unicode::front(replacement);
    changes.push_back({point.value, new_count < old_count ? 0 : 1});
    replacement.remove_prefix(point.bytes);
  }
  if (new_count < old_count && !changes.empty()) changes.back().change += new_count - old_count;
}

}  // namespace

Charsmap::Charsmap(std::string_view bytes, std::string_view where) {
  std::uint32_t size = 0;
  const bool has_size = bytes.size() >= sizeof size;
  if (has_size) std::memcpy(&size, bytes.data(), sizeof size);  // little endian, as heed's machines
  HEED_CHECK(has_size && size >= 4 && size % 4 == 0 && size <= bytes.size() - sizeof size,
             "[tokenizer] {} is not a precompiled_charsmap: its trie has {} of {} bytes", where,
             size, bytes.size());
  units_.resize(size / 4);
  std::memcpy(units_.data(), bytes.data() + sizeof size, size);
  texts_ = bytes.substr(sizeof size + size);
  HEED_CHECK(!unicode::find_invalid(texts_),
             "[tokenizer] {} is not a precompiled_charsmap: its texts are not UTF-8", where);
}

std::optional<std::string_view> Charsmap::replacement(std::string_view text) const {
  std::size_t node = unit_offset(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) break;
    node ^= byte;
    if (node >= units_.size()) break;
    const std::uint32_t unit = units_[node];
    if (unit_label(unit) != byte) break;
    node ^= unit_offset(unit);
    if (node >= units_.size()) break;
    if (unit_has_value(unit)) {
      const std::size_t at = units_[node] & ~(1u << 31);
      if (at > texts_.size()) break;
      const std::size_t end = std::min(texts_.find('\0', at), texts_.size());
      // A damaged position may be inside a character.
      const std::string_view found = std::string_view(texts_).substr(at, end - at);
      if (unicode::find_invalid(found)) break;
      return found;
    }
  }
  return std::nullopt;
}

void Charsmap::normalize(AlignedText& text) const {
  std::vector<unicode::Change> changes;
  changes.reserve(text.text.size());
  bool modified = false;
  for (std::string_view rest = text.text; !rest.empty();) {
    // Most text is ASCII, where only \r\n is a cluster of two characters.
    const bool simple = static_cast<unsigned char>(rest[0]) < 0x80 && rest[0] != '\r' &&
                        (rest.size() == 1 || static_cast<unsigned char>(rest[1]) < 0x80);
    std::string_view cluster = rest.substr(0, simple ? 1 : unicode::first_grapheme(rest));
    rest.remove_prefix(cluster.size());
    if (cluster.size() <= kLongestCluster) {
      if (const auto whole = replacement(cluster)) {
        modified = true;
        replace_characters(changes, *whole, static_cast<int>(unicode::split(cluster).size()));
        continue;
      }
    }
    for (; !cluster.empty();) {
      const unicode::CodePoint point = unicode::front(cluster);
      if (const auto single = replacement(cluster.substr(0, point.bytes))) {
        modified = true;
        replace_characters(changes, *single, 1);
      } else {
        changes.push_back({point.value, 0});
      }
      cluster.remove_prefix(point.bytes);
    }
  }
  if (modified) text.rewrite(changes);
}

}  // namespace heed::pipeline
