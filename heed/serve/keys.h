// API keys: a file with one line per client, which holds no key but its SHA-256:
//
//   # name  sha256 of the key  [requests per minute]
//   alice   9f86d081…          600
//
// Keys have 256 random bits, so a fast hash is as good as a slow one. A key that a client presents
// is hashed and compared with all lines, each in constant time.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::serve {

using Sha256 = std::array<unsigned char, 32>;
Sha256 sha256(std::string_view bytes);

struct KeyEntry {
  std::string name;
  Sha256 hash = {};
  std::optional<double> per_minute = {};  ///< Requests; none: as for all.
};

class Keys {
 public:
  Keys() = default;
  /// Reads a list; `source` names it in messages.
  Keys(std::string_view text, std::string_view source);

  /// The client that has this key, or null.
  const KeyEntry* find(std::string_view key) const;
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<KeyEntry> entries_;
};

/// Reads the list of a file; an empty list is an error.
Keys load_keys(const std::filesystem::path& path);

/// A new random key, and the line for the list.
struct NewKey {
  std::string key, line;
};
NewKey make_key(std::string_view name);

}  // namespace heed::serve
