// Recognises the kinds of tokenizer files, and functions that are common to all tokenizers.
#include "heed/text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/io/input.h"
#include "heed/text/characters.h"
#include "heed/text/pipeline/hf_tokenizer.h"
#include "heed/text/pipeline/mapped_pieces.h"
#include "heed/text/sentence_piece.h"
#include "heed/text/subword_nmt.h"
#include "heed/text/tokenizer_file.h"
#include "heed/text/unicode.h"
#include "heed/text/word_list.h"
#include "heed/text/words.h"

namespace heed {
namespace {

std::unique_ptr<Tokenizer> from_file(const TokenizerFile& file, std::string_view source) {
  switch (file.kind) {
    case TokenizerKind::words:
      return std::make_unique<Words>(file.vocabulary(), file.joint);
    case TokenizerKind::characters:
      return std::make_unique<Characters>(file.vocabulary());
    case TokenizerKind::subword_nmt:
      break;
  }
  const std::string codes = fmt::format("{}\n", fmt::join(file.codes, "\n"));
  return std::make_unique<SubwordNmt>(
      BpeCodes::parse(codes, fmt::format("codes of {}", source)), file.vocabulary(),
      SubwordNmtOptions{.separator = file.joint, .threshold = file.threshold});
}

// A SentencePiece model is a protocol buffer whose first field is a piece, so it begins with byte
// 0x0a, a line end. A list of words never begins with an empty line.
bool is_sentence_piece(std::string_view content) {
  constexpr char kFirstField = 0x0a;
  return content.starts_with(kFirstField);
}

bool is_json_object(std::string_view content) {
  return content.starts_with('{') && content.find_first_not_of(" \t\r\n", 1) == content.find('"');
}

}  // namespace

std::unique_ptr<Tokenizer> parse_tokenizer(std::string content, std::string_view source) {
  if (is_sentence_piece(content))
    return std::make_unique<SentencePiece>(std::move(content), source);
  if (is_hf_tokenizer_text(content)) return HfTokenizer::parse(std::move(content), source);
  if (is_mapped_pieces_text(content)) return MappedPieces::parse(content, source);
  if (is_tokenizer_text(content)) return from_file(parse_tokenizer_file(content, source), source);
  HEED_CHECK(
      !content.starts_with("#version:"),
      "[tokenizer] {} holds BPE codes, which give no token ids: use heed vocab convert to make "
      "a tokenizer from them and a word list",
      source);
  HEED_CHECK(
      !is_json_object(content),
      "[tokenizer] {} is JSON, but not a heed tokenizer (it lacks \"heed_tokenizer\") and not "
      "a tokenizer.json (it lacks \"model\" or \"added_tokens\")",
      source);
  HEED_CHECK(content.find('\0') == content.npos && !unicode::find_invalid(content),
             "[tokenizer] {} is neither a SentencePiece model nor a heed tokenizer nor a list of "
             "words in UTF-8",
             source);
  return std::make_unique<Words>(parse_word_list(content, source));
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path) {
  return parse_tokenizer(io::read_input(path, kMaxTokenizerBytes), path.string());
}

void save_tokenizer(const Tokenizer& tokenizer, const std::filesystem::path& path) {
  const std::vector<Tokenizer::File> files = tokenizer.files();
  HEED_ASSERT(files.size() == 1);
  io::write_file(path, files.front().content);
}

std::vector<WordSpan> word_spans(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  const SpecialTokens special = tokenizer.special();
  std::vector<WordSpan> words;
  bool in_word = false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int32_t id = ids[i];
    const bool is_silent = id == special.begin || id == special.end || id == special.padding;
    if (is_silent && id != special.unknown) {
      in_word = false;
      continue;
    }
    const bool goes_on = i > 0 && tokenizer.continues_word(ids[i - 1]);
    if (!in_word || (tokenizer.begins_word(id) && !goes_on)) words.push_back({i, i});
    words.back().end = i + 1;
    in_word = true;
  }
  return words;
}

}  // namespace heed
