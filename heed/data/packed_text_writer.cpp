#include "heed/data/packed_text_writer.h"

#include <limits>
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
#include "heed/io/lines.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using TextLayout = PackedTextLayout;

// One file: tokens are appended, and finish() writes index and header.
class TokenFileWriter {
 public:
  TokenFileWriter(const fs::path& path, std::uint32_t token_bytes, std::int64_t block_tokens)
      : file_(path), token_bytes_(token_bytes), block_tokens_(block_tokens) {
    file_.write(std::string(TextLayout::kHeaderBytes, '\0'));
  }

  std::int64_t tokens() const { return tokens_; }

  void add(std::int32_t token) {
    packed::append_token(block_, token, token_bytes_);
    if (++tokens_ % block_tokens_ == 0) finish_block();
  }

  // Returns the checksum of the file.
  std::uint64_t finish() {
    finish_block();
    const std::size_t bytes = static_cast<std::size_t>(tokens_) * token_bytes_;
    file_.write(std::string(TextLayout::aligned(bytes) - bytes, '\0'));
    const std::uint64_t checksum = packed::checksum_of(index_);
    std::string header(TextLayout::kMagic);
    packed::append_number(header, TextLayout::kVersion);
    packed::append_number(header, token_bytes_);
    packed::append_number(header, static_cast<std::uint64_t>(tokens_));
    packed::append_number(header, static_cast<std::uint64_t>(block_tokens_));
    packed::append_number(
        header, static_cast<std::uint64_t>(TextLayout::kHeaderBytes + TextLayout::aligned(bytes)));
    packed::append_number(header, checksum);
    HEED_ASSERT(header.size() == TextLayout::kHeaderBytes);
    file_.write(index_);
    file_.rewrite(0, header);
    file_.commit();
    return checksum;
  }

 private:
  void finish_block() {
    if (block_.empty()) return;
    packed::append_number(index_, packed::checksum_of(block_));
    file_.write(block_);
    block_.clear();
  }

  io::AtomicFile file_;
  std::uint32_t token_bytes_;
  std::int64_t block_tokens_;
  std::int64_t tokens_ = 0;
  std::string block_, index_;
};

// The files of a text.
class TextWriter {
 public:
  TextWriter(fs::path folder, std::uint32_t token_bytes, const TextPackingOptions& options)
      : files_(std::move(folder), packed_text_name), token_bytes_(token_bytes), options_(options) {}

  void add(std::int32_t token) {
    TokenFileWriter& file = files_.current(token_bytes_, options_.block_tokens);
    file.add(token);
    if (file.tokens() == options_.file_tokens) files_.finish_file();
  }

  std::vector<std::string> finish() { return files_.finish(); }

 private:
  packed::FileSequence<TokenFileWriter> files_;
  std::uint32_t token_bytes_;
  const TextPackingOptions& options_;
};

// The next lines of a text with their ends; empty at its end.
std::vector<std::string> next_lines(io::LineReader& reader, OnBad on_bad,
                                    TextPackingReport& report) {
  constexpr std::size_t kBytes = std::size_t{4} << 20;  // enough for all threads, little memory
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  for (std::string line; bytes < kBytes && reader.next(line);) {
    ++report.lines;
    const auto fault = find_fault(line, std::numeric_limits<std::size_t>::max());
    if (fault && fault->kind != BadLine::empty) {
      report.bad.add(*fault, reader.place(), on_bad);
      continue;
    }
    line += '\n';
    bytes += line.size();
    lines.push_back(std::move(line));
  }
  return lines;
}

void write_tokens(const fs::path& text, const Tokenizer& tokenizer,
                  const TextPackingOptions& options, TextWriter& writer,
                  TextPackingReport& report) {
  io::LineReader reader(text);
  while (true) {
    const std::vector<std::string> lines = next_lines(reader, options.on_bad, report);
    if (lines.empty()) return;
    std::vector<std::vector<std::int32_t>> tokens(lines.size());
    constexpr std::int64_t kCost = 1 << 16;  // of a line: loops of a few are worth a thread
    parallel_for(std::ssize(lines), kCost, [&](std::int64_t i) {
      tokens[static_cast<std::size_t>(i)] = tokenizer.encode(lines[static_cast<std::size_t>(i)]);
    });
    for (const std::vector<std::int32_t>& line : tokens) {
      for (const std::int32_t token : line) writer.add(token);
      report.tokens += std::ssize(line);
    }
    check_interrupt();
    options.progress(report.lines);
  }
}

}  // namespace

TextPackingReport pack_text(const fs::path& text, const Tokenizer& tokenizer,
                            const fs::path& folder, const TextPackingOptions& options) {
  HEED_CHECK(options.block_tokens >= 1 && options.file_tokens >= 1 &&
                 options.file_tokens % options.block_tokens == 0,
             "[packed] files of {} tokens in blocks of {}: a file has whole blocks",
             options.file_tokens, options.block_tokens);
  TextPackingReport report;
  io::write_folder(folder, [&](const fs::path& place) {
    TextWriter writer(place, TextLayout::token_bytes(tokenizer.size()), options);
    write_tokens(text, tokenizer, options, writer, report);
    HEED_CHECK(report.tokens > 0, "[packed] {}: there is nothing to pack in {} lines",
               text.string(), report.lines);
    PackedTextInfo info{.heed_packed_text = PackedTextInfo::kVersion,
                        .tokens = report.tokens,
                        .vocabulary = tokenizer.size(),
                        .file_tokens = options.file_tokens,
                        .checksums = writer.finish()};
    save_tokenizer(tokenizer, place / kPackedTextTokenizer);
    io::save_config(place / kPackedTextInfo, info);
  });
  return report;
}

}  // namespace heed
