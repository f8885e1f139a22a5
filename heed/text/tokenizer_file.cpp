#include "heed/text/tokenizer_file.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/io/config.h"
#include "heed/io/json.h"

namespace heed {

void TokenizerFile::fields(io::Fields& field) {
  field("heed_tokenizer", heed_tokenizer, "version of this format");
  field("kind", kind, "kind of the tokenizer");
  field("joint", joint, "mark at the end of tokens whose word continues in the next token");
  field("threshold", threshold, "merges into tokens counted less often are undone");
  field("codes", codes, "the lines of the file of BPE codes");
  field("tokens", tokens, "all tokens in the order of their ids, including special ones");
  field("counts", counts, "count of each token", {.min = 0});
}

void TokenizerFile::validate() const {
  HEED_CHECK(heed_tokenizer == kVersion,
             "[tokenizer] the file has version {}: this heed reads version {}", heed_tokenizer,
             kVersion);
  HEED_CHECK(counts.empty() || counts.size() == tokens.size(),
             "[tokenizer] there are {} counts for {} tokens", counts.size(), tokens.size());
}

Vocabulary TokenizerFile::vocabulary() const {
  std::vector<TokenCount> all;
  all.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    all.push_back({tokens[i], counts.empty() ? 0 : counts[i]});
  }
  return Vocabulary(std::move(all));
}

TokenizerFile tokenizer_file(TokenizerKind kind, const Vocabulary& vocabulary) {
  TokenizerFile file;
  file.heed_tokenizer = TokenizerFile::kVersion;
  file.kind = kind;
  for (const TokenCount& entry : vocabulary.tokens()) {
    file.tokens.push_back(entry.token);
    file.counts.push_back(entry.count);
  }
  if (std::all_of(file.counts.begin(), file.counts.end(), [](auto n) { return n == 0; })) {
    file.counts.clear();
  }
  return file;
}

std::string tokenizer_text(const TokenizerFile& file) {
  constexpr std::size_t kOthers = 16;  // more than the members of a file
  HEED_CHECK(
      file.tokens.size() + file.counts.size() + file.codes.size() + kOthers <= io::kMaxValues,
      "[tokenizer] {} tokens are too many for a file: at most {} can be read, or half of "
      "them with counts; make a smaller vocabulary",
      file.tokens.size(), io::kMaxValues - kOthers);
  std::string text = io::to_json(file);
  HEED_CHECK(text.size() <= kMaxTokenizerBytes,
             "[tokenizer] {} tokens make a file of {} bytes, and at most {} can be read: make a "
             "smaller vocabulary",
             file.tokens.size(), text.size(), kMaxTokenizerBytes);
  return text;
}

bool is_tokenizer_text(std::string_view text) {
  constexpr std::size_t kHead = 256;
  return text.starts_with('{') && text.substr(0, kHead).find("\"heed_tokenizer\"") != text.npos;
}

TokenizerFile parse_tokenizer_file(std::string_view text, std::string_view source) {
  TokenizerFile file;
  io::load_json(text, file, source);
  return file;
}

}  // namespace heed
