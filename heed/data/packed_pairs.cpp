#include "heed/data/packed_pairs.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/io/config.h"
#include "heed/io/fingerprint.h"
#include "heed/io/paths.h"

namespace heed {

namespace fs = std::filesystem;

void PackedInfo::fields(io::Fields& field) {
  field("heed_packed_pairs", heed_packed_pairs, "version of the format");
  field("pairs", pairs, "number of pairs", {.min = 0});
  field("source_tokens", source_tokens, "tokens of all sources", {.min = 0});
  field("target_tokens", target_tokens, "tokens of all targets", {.min = 0});
  field("source_vocabulary", source_vocabulary, "tokens of the source's vocabulary",
        {.min = 1, .max = 0x7fffffff});
  field("target_vocabulary", target_vocabulary, "tokens of the target's vocabulary",
        {.min = 1, .max = 0x7fffffff});
  field("max_length", max_length, "tokens of a sentence at most; 0: no limit", {.min = 0});
  field("max_ratio", max_ratio, "ratio of the lengths of a pair at most; 0: no limit", {.min = 0});
  field("checksums", checksums, "of the files of pairs");
}

void PackedInfo::validate() const {
  HEED_CHECK(heed_packed_pairs == kVersion,
             "[packed] heed_packed_pairs is {}: this heed reads version {}; pack the corpus again",
             heed_packed_pairs, kVersion);
}

std::string packed_name(std::int64_t file) { return fmt::format("pairs-{:05}.bin", file); }

bool is_packed(const fs::path& path) {
  return io::is_folder(path) && io::exists(path / kPackedInfo);
}

PackedPairs::PackedPairs(const fs::path& folder) {
  HEED_CHECK(is_packed(folder),
             "[packed] {} is not the folder of a packed corpus: it has no {}; `heed corpus pack` "
             "makes one",
             folder.string(), kPackedInfo);
  io::load_config(folder / kPackedInfo, info_);
  source_ = load_tokenizer(folder / kPackedSource);
  const bool is_shared = std::ranges::equal(io::MappedFile::open(folder / kPackedSource)->bytes(),
                                            io::MappedFile::open(folder / kPackedTarget)->bytes());
  target_ = is_shared ? source_ : load_tokenizer(folder / kPackedTarget);
  HEED_CHECK(
      source_->size() == info_.source_vocabulary && target_->size() == info_.target_vocabulary,
      "[packed] {}: the tokenizers have {} and {} tokens, {} says {} and {}: they belong to "
      "another "
      "corpus",
      folder.string(), source_->size(), target_->size(), kPackedInfo, info_.source_vocabulary,
      info_.target_vocabulary);
  open_files(folder);
  io::Fingerprint print;
  for (const char* const name : {kPackedInfo, kPackedSource, kPackedTarget}) {
    print.add(io::MappedFile::open(folder / name)->bytes());
  }
  fingerprint_ = print.value();
}

void PackedPairs::open_files(const fs::path& folder) {
  std::int64_t pairs = 0;
  for (std::size_t f = 0; f < info_.checksums.size(); ++f) {
    const fs::path path = folder / packed_name(static_cast<std::int64_t>(f));
    const auto mapped = io::MappedFile::open(path);
    const PackedFile& file =
        files_
            .emplace_back(Opened{.mapped = mapped,
                                 .pairs = PackedFile(mapped->bytes(), path.string(),
                                                     {.source = info_.source_vocabulary,
                                                      .target = info_.target_vocabulary})})
            .pairs;
    HEED_CHECK(fmt::format("{:016x}", file.checksum()) == info_.checksums[f],
               "[packed] {} has the checksum {:016x}, {} says {}: it belongs to another corpus",
               path.string(), file.checksum(), kPackedInfo, info_.checksums[f]);
    for (std::int64_t block = 0; block < file.blocks(); ++block) {
      places_.push_back({static_cast<std::int32_t>(f), static_cast<std::int32_t>(block)});
    }
    pairs += file.pairs();
  }
  HEED_CHECK(pairs == info_.pairs, "[packed] {} has {} pairs in its files, {} says {}",
             folder.string(), pairs, kPackedInfo, info_.pairs);
}

std::int64_t PackedPairs::pairs_of(std::int64_t block) const {
  return file_of(block).pairs.pairs_of(place(block).block);
}

void PackedPairs::read_lengths(std::int64_t block, std::vector<PairLength>& lengths) const {
  file_of(block).pairs.read_lengths(place(block).block, lengths);
}

void PackedPairs::check_tokens(std::int64_t block) const {
  file_of(block).pairs.check_tokens(place(block).block);
}

void PackedPairs::read_tokens(std::int64_t block, std::int64_t first, std::int64_t count,
                              std::vector<std::int32_t>& tokens) const {
  file_of(block).pairs.read_tokens(place(block).block, first, count, tokens);
}

void PackedPairs::forget() const {
  for (const Opened& file : files_) file.mapped->forget(file.mapped->bytes());
}

}  // namespace heed
