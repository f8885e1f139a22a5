#include "heed/serve/keys.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/io/value.h"

namespace heed::serve {
namespace {

std::string hex_of(const Sha256& hash) { return fmt::format("{:02x}", fmt::join(hash, "")); }

std::optional<Sha256> parse_hex(std::string_view text) {
  Sha256 hash{};
  if (text.size() != 2 * hash.size()) return {};
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char* const at = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, hash[i], 16);
    if (error != std::errc{} || end != at + 2) return {};
  }
  return hash;
}

// The words of a line, without a comment.
std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  constexpr std::string_view kSpace = " \t\r";
  for (std::size_t at = line.find_first_not_of(kSpace); at != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return words;
}

std::optional<double> parse_rate(std::string_view text) {
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return std::isfinite(rate) && rate > 0 ? std::optional(rate) : std::nullopt;
}

}  // namespace

Sha256 sha256(std::string_view bytes) {
  Sha256 hash{};
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  return hash;
}

Keys::Keys(std::string_view text, std::string_view source) {
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (words.empty()) continue;
    const auto hash = words.size() >= 2 ? parse_hex(words[1]) : std::nullopt;
    HEED_CHECK((words.size() == 2 || words.size() == 3) && hash,
               "[serve] {}:{}: a line has a name, the SHA-256 of a key in 64 hexadecimal digits, "
               "and perhaps requests per minute; heed serve --new-key NAME makes one",
               source, number);
    KeyEntry entry{.name = std::string(words[0]), .hash = *hash};
    if (words.size() == 3) {
      entry.per_minute = parse_rate(words[2]);
      HEED_CHECK(entry.per_minute, "[serve] {}:{}: {} requests per minute: give a number above 0",
                 source, number, io::in_quotes(words[2]));
    }
    HEED_CHECK(std::ranges::none_of(entries_,
                                    [&](const KeyEntry& other) {
                                      return other.name == entry.name || other.hash == entry.hash;
                                    }),
               "[serve] {}:{}: the name or the key of {} is there already: each once", source,
               number, io::in_quotes(entry.name));
    entries_.push_back(std::move(entry));
  }
}

const KeyEntry* Keys::find(std::string_view key) const {
  const Sha256 hash = sha256(key);
  const KeyEntry* found = nullptr;
  for (const KeyEntry& entry : entries_) {  // all of them, whatever is found
    if (::CRYPTO_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) found = &entry;
  }
  return found;
}

Keys load_keys(const std::filesystem::path& path) {
  constexpr std::size_t kMostBytes = 16 << 20;
  Keys keys(io::read_file(path, kMostBytes), path.string());
  HEED_CHECK(!keys.empty(), "[serve] {} has no keys: heed serve --new-key NAME makes one",
             path.string());
  return keys;
}

NewKey make_key(std::string_view name) {
  HEED_CHECK(words_of(name).size() == 1 && words_of(name)[0] == name,
             "[serve] {} is no name of a key: use one word without #", io::in_quotes(name));
  Sha256 random{};
  HEED_CHECK(::RAND_bytes(random.data(), static_cast<int>(random.size())) == 1,
             "[serve] the system gives no random numbers");
  const std::string key = "hk-" + hex_of(random);
  return {.key = key, .line = fmt::format("{} {}", name, hex_of(sha256(key)))};
}

}  // namespace heed::serve
