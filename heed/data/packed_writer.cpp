#include "heed/data/packed_writer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/threads.h"
#include "heed/data/packed_bytes.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/io/folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// One file: pairs are appended, and finish() writes index and header.
class FileWriter {
 public:
  FileWriter(const fs::path& path, std::uint32_t token_bytes, std::int64_t block_pairs)
      : file_(path), token_bytes_(token_bytes), block_pairs_(block_pairs) {
    file_.write(std::string(PackedLayout::kHeaderBytes, '\0'));
  }

  /// The bytes of complete blocks.
  std::int64_t bytes() const { return static_cast<std::int64_t>(offset_); }

  void add(std::span<const std::int32_t> source, std::span<const std::int32_t> target) {
    packed::append_number(lengths_, static_cast<std::uint16_t>(source.size()));
    packed::append_number(lengths_, static_cast<std::uint16_t>(target.size()));
    add_tokens(source);
    add_tokens(target);
    if (++in_block_ == block_pairs_) finish_block();
  }

  // Returns the checksum of the file.
  std::uint64_t finish() {
    finish_block();
    const std::uint64_t checksum = packed::checksum_of(index_);
    std::string header(PackedLayout::kMagic);
    packed::append_number(header, PackedLayout::kVersion);
    packed::append_number(header, token_bytes_);
    packed::append_number(header,
                          static_cast<std::uint64_t>(index_.size() / PackedLayout::kEntryBytes));
    packed::append_number(header, pairs_);
    packed::append_number(header, offset_);
    packed::append_number(header, checksum);
    HEED_ASSERT(header.size() == PackedLayout::kHeaderBytes);
    file_.write(index_);
    file_.rewrite(0, header);
    file_.commit();
    return checksum;
  }

 private:
  void add_tokens(std::span<const std::int32_t> tokens) {
    for (const std::int32_t token : tokens) packed::append_token(tokens_, token, token_bytes_);
  }

  void finish_block() {
    if (in_block_ == 0) return;
    packed::append_number(index_, offset_);
    packed::append_number(index_, static_cast<std::uint32_t>(in_block_));
    packed::append_number(index_, static_cast<std::uint32_t>(tokens_.size() / token_bytes_));
    packed::append_number(index_, packed::checksum_of(lengths_));
    packed::append_number(index_, packed::checksum_of(tokens_));
    lengths_ += tokens_;
    lengths_.resize(PackedLayout::aligned(lengths_.size()));
    file_.write(lengths_);
    offset_ += lengths_.size();
    pairs_ += static_cast<std::uint64_t>(in_block_);
    in_block_ = 0;
    lengths_.clear();
    tokens_.clear();
  }

  io::AtomicFile file_;
  std::uint32_t token_bytes_;
  std::int64_t block_pairs_;
  std::uint64_t offset_ = PackedLayout::kHeaderBytes;
  std::uint64_t pairs_ = 0;
  std::int64_t in_block_ = 0;
  std::string lengths_, tokens_;  // of the block
  std::string index_;
};

// The files of a corpus.
class CorpusWriter {
 public:
  CorpusWriter(fs::path folder, std::uint32_t token_bytes, const PackingOptions& options)
      : files_(std::move(folder), packed_name), token_bytes_(token_bytes), options_(options) {}

  void add(std::span<const std::int32_t> source, std::span<const std::int32_t> target) {
    FileWriter& file = files_.current(token_bytes_, options_.block_pairs);
    file.add(source, target);
    if (file.bytes() >= options_.file_bytes) files_.finish_file();
  }

  std::vector<std::string> finish() { return files_.finish(); }

 private:
  packed::FileSequence<FileWriter> files_;
  std::uint32_t token_bytes_;
  const PackingOptions& options_;
};

using Tokens = std::vector<std::int32_t>;

// The tokens of the next pairs of a text, made by all threads; empty at its end.
std::vector<std::pair<Tokens, Tokens>> next_tokens(ParallelText& text,
                                                   const TokenizerPair& tokenizers) {
  constexpr std::size_t kPairs = 16384;  // enough for all threads, little memory
  std::vector<std::pair<std::string, std::string>> lines;
  TextPair pair;
  while (lines.size() < kPairs && text.next(pair)) lines.emplace_back(pair.source, pair.target);
  std::vector<std::pair<Tokens, Tokens>> tokens(lines.size());
  constexpr std::int64_t kCost = 1 << 16;  // of a sentence: loops of a few are worth a thread
  parallel_for(std::ssize(lines), kCost, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    tokens[at] = {tokenizers.source->encode(lines[at].first),
                  tokenizers.target->encode(lines[at].second)};
  });
  return tokens;
}

CorpusReport write_pairs(ParallelText& text, const TokenizerPair& tokenizers,
                         const PackingOptions& options, CorpusWriter& writer) {
  const std::int64_t longest = options.max_length > 0
                                   ? std::min(options.max_length, PackedLayout::kMaxLength)
                                   : PackedLayout::kMaxLength;
  const PairFilter filter(
      {tokenizers.source->special(), tokenizers.target->special()},
      {.max_source_length = longest, .max_target_length = longest, .max_ratio = options.max_ratio});
  CorpusReport report;
  while (true) {
    const auto pairs = next_tokens(text, tokenizers);
    if (pairs.empty()) return report;
    for (const auto& [source, target] : pairs) {
      if (filter.keeps(source, target, report)) writer.add(source, target);
    }
    check_interrupt();
    options.progress(text.report().lines);
  }
}

}  // namespace

CorpusReport pack_pairs(ParallelText& text, const TokenizerPair& tokenizers, const fs::path& folder,
                        const PackingOptions& options) {
  HEED_CHECK(options.block_pairs >= 1 && options.block_pairs <= PackedLayout::kBlockPairs,
             "[packed] blocks of {} pairs: a block has 1 to {}", options.block_pairs,
             PackedLayout::kBlockPairs);
  const PackedVocabularies sizes{.source = tokenizers.source->size(),
                                 .target = tokenizers.target->size()};
  CorpusReport report;
  io::write_folder(folder, [&](const fs::path& place) {
    CorpusWriter writer(place, sizes.token_bytes(), options);
    report = write_pairs(text, tokenizers, options, writer);
    HEED_CHECK(report.kept > 0, "[packed] there is nothing to pack: {}; {}",
               describe(text.report()), describe(report));
    PackedInfo info{.heed_packed_pairs = PackedInfo::kVersion,
                    .pairs = report.kept,
                    .source_tokens = report.source_tokens,
                    .target_tokens = report.target_tokens,
                    .source_vocabulary = sizes.source,
                    .target_vocabulary = sizes.target,
                    .max_length = options.max_length,
                    .max_ratio = options.max_ratio,
                    .checksums = writer.finish()};
    save_tokenizer(*tokenizers.source, place / kPackedSource);
    save_tokenizer(*tokenizers.target, place / kPackedTarget);
    io::save_config(place / kPackedInfo, info);
  });
  return report;
}

}  // namespace heed
