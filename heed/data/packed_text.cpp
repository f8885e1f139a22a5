#include "heed/data/packed_text.h"

#include <algorithm>
#include <cstring>

#include "heed/base/error.h"
#include "heed/io/byte_reader.h"
#include "heed/io/config.h"
#include "heed/io/fingerprint.h"
#include "heed/io/paths.h"

namespace heed {

namespace fs = std::filesystem;
using TextLayout = PackedTextLayout;

void PackedTextInfo::fields(io::Fields& field) {
  field("heed_packed_text", heed_packed_text, "version of the format");
  field("tokens", tokens, "number of tokens", {.min = 1});
  field("vocabulary", vocabulary, "tokens of the vocabulary", {.min = 1, .max = 0x7fffffff});
  field("file_tokens", file_tokens, "tokens of each file but the last", {.min = 1});
  field("checksums", checksums, "of the files of tokens");
}

void PackedTextInfo::validate() const {
  HEED_CHECK(heed_packed_text == kVersion,
             "[packed] heed_packed_text is {}: this heed reads version {}; pack the text again",
             heed_packed_text, kVersion);
}

std::string packed_text_name(std::int64_t file) { return fmt::format("tokens-{:05}.bin", file); }

bool is_packed_text(const fs::path& path) {
  return io::is_folder(path) && io::exists(path / kPackedTextInfo);
}

// ---- a file -------------------------------------------------------------------------------------

PackedTextFile::PackedTextFile(std::span<const std::byte> bytes, std::string name,
                               std::int64_t vocabulary)
    : bytes_(bytes), name_(std::move(name)), vocabulary_(vocabulary) {
  io::ByteReader reader(bytes_, "packed", name_);
  if (reader.text(TextLayout::kMagic.size(), "the header") != TextLayout::kMagic) {
    reader.refuse_at(0, "this is not a file of a packed text");
  }
  const auto version = reader.number<std::uint32_t>("the version");
  if (version != TextLayout::kVersion) {
    reader.refuse("version {}: this heed reads version {}; pack the text again", version,
                  TextLayout::kVersion);
  }
  token_bytes_ = reader.number<std::uint32_t>("the size of a token");
  if (token_bytes_ != TextLayout::token_bytes(vocabulary)) {
    reader.refuse(
        "tokens of {} bytes, and the vocabulary needs {}: the file belongs to another text",
        token_bytes_, TextLayout::token_bytes(vocabulary));
  }
  const auto tokens = reader.number<std::uint64_t>("the number of tokens");
  const auto block = reader.number<std::uint64_t>("the tokens of a block");
  const auto index = reader.number<std::uint64_t>("the position of the index");
  checksum_ = reader.number<std::uint64_t>("the checksum of the index");
  constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 40;
  const bool is_possible = tokens >= 1 && tokens <= bytes_.size() && block >= 1 &&
                           block <= kMostTokens && index <= bytes_.size();
  const std::uint64_t blocks = is_possible ? (tokens + block - 1) / block : 0;
  if (!is_possible ||
      index != TextLayout::kHeaderBytes + TextLayout::aligned(tokens * token_bytes_) ||
      bytes_.size() - index != blocks * TextLayout::kEntryBytes) {
    reader.refuse_at(16,
                     "{} tokens in blocks of {} and an index at byte {} in a file of {} bytes: it "
                     "is cut off or damaged",
                     tokens, block, index, bytes_.size());
  }
  tokens_ = static_cast<std::int64_t>(tokens);
  block_tokens_ = static_cast<std::int64_t>(block);
  index_ = static_cast<std::size_t>(index);
  HEED_CHECK(io::fingerprint(bytes_.subspan(index_)) == checksum_,
             "[packed] {}: the checksum of the index is wrong: the file is damaged; copy it again, "
             "or pack the text again",
             name_);
}

void PackedTextFile::check_block(std::int64_t block) const {
  HEED_ASSERT(block >= 0 && block < blocks());
  const std::int64_t first = block * block_tokens_;
  const std::int64_t count = std::min(block_tokens_, tokens_ - first);
  const std::size_t at = TextLayout::kHeaderBytes + static_cast<std::size_t>(first) * token_bytes_;
  std::uint64_t expected = 0;
  std::memcpy(&expected,
              bytes_.data() + index_ + static_cast<std::size_t>(block) * TextLayout::kEntryBytes,
              sizeof expected);
  HEED_CHECK(
      io::fingerprint(bytes_.subspan(at, static_cast<std::size_t>(count) * token_bytes_)) ==
          expected,
      "[packed] {}: the tokens of block {} (byte {}) are damaged: copy the file again, or pack the "
      "text again",
      name_, block, at);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  read(first, tokens);
  for (const std::int32_t token : tokens) {
    HEED_CHECK(token >= 0 && token < vocabulary_,
               "[packed] {}: block {} has token {}, and the vocabulary {} tokens: the file belongs "
               "to another text",
               name_, block, token, vocabulary_);
  }
}

void PackedTextFile::read(std::int64_t first, std::span<std::int32_t> tokens) const {
  HEED_ASSERT(first >= 0 && first + std::ssize(tokens) <= tokens_);
  const std::byte* const from =
      bytes_.data() + TextLayout::kHeaderBytes + static_cast<std::size_t>(first) * token_bytes_;
  if (token_bytes_ == sizeof(std::int32_t)) {
    if (!tokens.empty()) std::memcpy(tokens.data(), from, tokens.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::uint16_t token = 0;
    std::memcpy(&token, from + i * sizeof token, sizeof token);
    tokens[i] = token;
  }
}

// ---- a text -------------------------------------------------------------------------------------

PackedText::PackedText(const fs::path& folder) {
  HEED_CHECK(is_packed_text(folder),
             "[packed] {} is not the folder of a packed text: it has no {}; `heed corpus pack "
             "--task language` makes one",
             folder.string(), kPackedTextInfo);
  io::load_config(folder / kPackedTextInfo, info_);
  tokenizer_ = load_tokenizer(folder / kPackedTextTokenizer);
  HEED_CHECK(tokenizer_->size() == info_.vocabulary,
             "[packed] {}: the tokenizer has {} tokens, {} says {}: it belongs to another text",
             folder.string(), tokenizer_->size(), kPackedTextInfo, info_.vocabulary);
  open_files(folder);
  io::Fingerprint print;
  for (const char* const name : {kPackedTextInfo, kPackedTextTokenizer}) {
    print.add(io::MappedFile::open(folder / name)->bytes());
  }
  fingerprint_ = print.value();
}

void PackedText::open_files(const fs::path& folder) {
  std::int64_t left = info_.tokens;
  for (std::size_t f = 0; f < info_.checksums.size(); ++f) {
    const fs::path path = folder / packed_text_name(static_cast<std::int64_t>(f));
    const auto mapped = io::MappedFile::open(path);
    PackedTextFile file(mapped->bytes(), path.string(), info_.vocabulary);
    HEED_CHECK(fmt::format("{:016x}", file.checksum()) == info_.checksums[f],
               "[packed] {} has the checksum {:016x}, {} says {}: it belongs to another text",
               path.string(), file.checksum(), kPackedTextInfo, info_.checksums[f]);
    HEED_CHECK(file.tokens() == std::min(left, info_.file_tokens),
               "[packed] {} has {} tokens, {} says {}", path.string(), file.tokens(),
               kPackedTextInfo, std::min(left, info_.file_tokens));
    left -= file.tokens();
    std::vector<bool> is_checked(static_cast<std::size_t>(file.blocks()));
    files_.push_back({mapped, std::move(file), std::move(is_checked)});
  }
  HEED_CHECK(left == 0, "[packed] {}: the files have {} tokens less than {} says", folder.string(),
             left, kPackedTextInfo);
}

// Pages are dropped now and then, all of them: the system also maps pages around those that are
// read.
void PackedText::check_block(const Opened& file, std::int64_t block) const {
  constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
  const auto at = static_cast<std::size_t>(block);
  if (!file.is_checked[at]) file.tokens.check_block(block);
  file.is_checked[at] = true;
  read_bytes_ += file.tokens.block_tokens() * static_cast<std::int64_t>(sizeof(std::int32_t));
  if (read_bytes_ < kMostBytes) return;
  read_bytes_ = 0;
  for (const Opened& one : files_) one.mapped->forget(one.mapped->bytes());
}

void PackedText::read(std::int64_t first, std::span<std::int32_t> tokens) const {
  HEED_ASSERT(first >= 0 && first + std::ssize(tokens) <= size());
  while (!tokens.empty()) {
    const Opened& file = files_[static_cast<std::size_t>(first / info_.file_tokens)];
    const std::int64_t at = first % info_.file_tokens;
    const std::int64_t block = at / file.tokens.block_tokens();
    const std::int64_t end =
        std::min((block + 1) * file.tokens.block_tokens(), file.tokens.tokens());
    const auto count = static_cast<std::size_t>(std::min(end - at, std::ssize(tokens)));
    check_block(file, block);
    file.tokens.read(at, tokens.first(count));
    tokens = tokens.subspan(count);
    first += static_cast<std::int64_t>(count);
  }
}

void PackedText::check(const std::function<void()>& progress) const {
  for (const Opened& file : files_) {
    for (std::int64_t block = 0; block < file.tokens.blocks(); ++block) {
      progress();
      check_block(file, block);
    }
  }
}

}  // namespace heed
