// A packed text: a folder with the tokens of one long text, for language models whose text does not
// fit into memory. `heed corpus pack --task language` writes it (packed_text_writer.h).
//
//   text.json            what it holds, and the checksums of the files
//   text.tokenizer       its tokenizer (heed/text/tokenizer.h)
//   tokens-00000.bin, …  the tokens; all files but the last have the same number of them
//
// A file of tokens, all numbers little-endian:
//
//   header    "HEEDTEXT", u32 version (1), u32 bytes of a token (2 or 4), u64 tokens, u64 tokens of
//             a block, u64 byte of the index, u64 checksum of the index               (48 bytes)
//   tokens    one after another; zeros up to a multiple of 8 bytes
//   index     for each block: u64 checksum of its tokens
//
// The index is checked when a file is opened, a block before its tokens are used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/fields.h"
#include "heed/io/file.h"
#include "heed/text/tokenizer.h"

namespace heed {

inline constexpr const char* kPackedTextInfo = "text.json";
inline constexpr const char* kPackedTextTokenizer = "text.tokenizer";

/// The layout of files of tokens.
struct PackedTextLayout {
  static constexpr std::string_view kMagic = "HEEDTEXT";
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::size_t kHeaderBytes = 48;
  static constexpr std::size_t kEntryBytes = 8;
  static constexpr std::size_t kAlignment = 8;
  static constexpr std::int64_t kShortTokens = 65536;  ///< Vocabularies up to this have 2 bytes.

  static std::uint32_t token_bytes(std::int64_t vocabulary) {
    return vocabulary <= kShortTokens ? 2 : 4;
  }
  static std::size_t aligned(std::size_t size) {
    return (size + kAlignment - 1) / kAlignment * kAlignment;
  }
};

/// The content of text.json.
struct PackedTextInfo {
  static constexpr std::int64_t kVersion = 1;

  std::int64_t heed_packed_text = 0;  ///< The version.
  std::int64_t tokens = 0;
  std::int64_t vocabulary = 0;   ///< Number of tokens.
  std::int64_t file_tokens = 0;  ///< Tokens of each file but the last.
  std::vector<std::string> checksums = {};

  void fields(io::Fields& field);
  void validate() const;
};

/// The name of a file of tokens.
std::string packed_text_name(std::int64_t file);

/// Whether a path is the folder of a packed text.
bool is_packed_text(const std::filesystem::path& path);

/// A view of a file of tokens.
class PackedTextFile {
 public:
  /// Checks header and index. `name` names the file in messages; the bytes must outlive the view.
  PackedTextFile(std::span<const std::byte> bytes, std::string name, std::int64_t vocabulary);

  std::int64_t tokens() const { return tokens_; }
  std::int64_t block_tokens() const { return block_tokens_; }
  std::int64_t blocks() const { return (tokens_ + block_tokens_ - 1) / block_tokens_; }
  /// The checksum of the index, and thereby of everything.
  std::uint64_t checksum() const { return checksum_; }

  /// Checks a block: its checksum, and that the vocabulary has its tokens.
  void check_block(std::int64_t block) const;
  /// Copies tokens of blocks that were checked, from number `first` on.
  void read(std::int64_t first, std::span<std::int32_t> tokens) const;

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
  std::int64_t vocabulary_;
  std::size_t token_bytes_ = 2;
  std::int64_t tokens_ = 0, block_tokens_ = 1;
  std::size_t index_ = 0;  // its first byte
  std::uint64_t checksum_ = 0;
};

/// The tokens of all files of a packed text. It never changes; one thread reads it at a time.
class PackedText {
 public:
  /// Opens a text and checks all but the tokens, which are checked when they are read.
  explicit PackedText(const std::filesystem::path& folder);

  const PackedTextInfo& info() const { return info_; }
  const std::shared_ptr<const Tokenizer>& tokenizer() const { return tokenizer_; }
  std::int64_t size() const { return info_.tokens; }
  /// The same if and only if the texts are the same.
  std::uint64_t fingerprint() const { return fingerprint_; }

  /// Copies the tokens from number `first` on. What was read before no longer counts as memory of
  /// this process after some megabytes.
  void read(std::int64_t first, std::span<std::int32_t> tokens) const;
  /// Checks all tokens; calls `progress` now and then.
  void check(const std::function<void()>& progress) const;

 private:
  struct Opened {
    std::shared_ptr<const io::MappedFile> mapped;
    PackedTextFile tokens;
    mutable std::vector<bool> is_checked;  // by block
  };

  void open_files(const std::filesystem::path& folder);
  void check_block(const Opened& file, std::int64_t block) const;

  PackedTextInfo info_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<Opened> files_;
  std::uint64_t fingerprint_ = 0;
  mutable std::int64_t read_bytes_ = 0;  // since the last time that pages were dropped
};

}  // namespace heed
