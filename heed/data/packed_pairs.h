// A packed corpus: a folder of tokenized pairs of sentences that training reads from disk, for
// corpora that do not fit into memory. `heed corpus pack` writes it.
//
//   corpus.json         what it holds, and the checksums of the files
//   source.tokenizer    the tokenizers of both sides (heed/text/tokenizer.h)
//   target.tokenizer
//   pairs-00000.bin, …  the pairs (heed/data/packed_file.h)
//
//   const PackedPairs corpus("packed");
//   corpus.read_lengths(block, lengths);
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/data/packed_file.h"
#include "heed/data/parallel_corpus.h"
#include "heed/io/fields.h"
#include "heed/io/file.h"
#include "heed/text/tokenizer.h"

namespace heed {

inline constexpr const char* kPackedInfo = "corpus.json";
inline constexpr const char* kPackedSource = "source.tokenizer";
inline constexpr const char* kPackedTarget = "target.tokenizer";

/// The content of corpus.json.
struct PackedInfo {
  static constexpr std::int64_t kVersion = 1;

  std::int64_t heed_packed_pairs = 0;  ///< The version.
  std::int64_t pairs = 0;
  std::int64_t source_tokens = 0, target_tokens = 0;
  std::int64_t source_vocabulary = 0, target_vocabulary = 0;  ///< Numbers of tokens.
  std::int64_t max_length = 0;                                ///< Of either side; 0: no limit.
  double max_ratio = 0.0;                                     ///< 0: no limit.
  std::vector<std::string> checksums = {};                    ///< Of the files of pairs.

  void fields(io::Fields& field);
  void validate() const;
};

/// The name of a file of pairs.
std::string packed_name(std::int64_t file);

/// Whether a path is the folder of a packed corpus.
bool is_packed(const std::filesystem::path& path);

/// The blocks of all files of a packed corpus, as one list. It never changes.
class PackedPairs {
 public:
  /// Opens a corpus and checks all but the content of blocks, which is checked when it is read.
  explicit PackedPairs(const std::filesystem::path& folder);

  const PackedInfo& info() const { return info_; }
  const std::shared_ptr<const Tokenizer>& source() const { return source_; }
  const std::shared_ptr<const Tokenizer>& target() const { return target_; }
  /// The same if and only if the corpora are the same.
  std::uint64_t fingerprint() const { return fingerprint_; }

  std::int64_t blocks() const { return static_cast<std::int64_t>(places_.size()); }
  /// As those of PackedFile.
  std::int64_t pairs_of(std::int64_t block) const;
  void read_lengths(std::int64_t block, std::vector<PairLength>& lengths) const;
  void check_tokens(std::int64_t block) const;
  void read_tokens(std::int64_t block, std::int64_t first, std::int64_t count,
                   std::vector<std::int32_t>& tokens) const;
  /// Says that what was read is not needed soon: it no longer counts as memory of this process. All
  /// of the files, because the system maps pages around those that are read, too.
  void forget() const;

 private:
  struct Opened {
    std::shared_ptr<const io::MappedFile> mapped;
    PackedFile pairs;
  };
  struct Place {
    std::int32_t file;
    std::int32_t block;
  };

  void open_files(const std::filesystem::path& folder);
  const Place& place(std::int64_t block) const { return places_[static_cast<std::size_t>(block)]; }
  const Opened& file_of(std::int64_t block) const {
    return files_[static_cast<std::size_t>(place(block).file)];
  }

  PackedInfo info_;
  std::shared_ptr<const Tokenizer> source_, target_;
  std::vector<Opened> files_;
  std::vector<Place> places_;  // of the blocks
  std::uint64_t fingerprint_ = 0;
};

}  // namespace heed
