// Fuzzes tokenizers of tokenizer.json: any bytes are either rejected with a heed::Error or give a
// tokenizer that takes any text, returns only ids of its vocabulary and spans inside the text, and
// can be read back from its own file. Bytes that are a SentencePiece model are converted first.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "heed/io/json.h"
#include "heed/text/pipeline/hf_convert.h"
#include "heed/text/pipeline/hf_tokenizer.h"

namespace {

using namespace heed;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_text(const HfTokenizer& tokenizer, std::string_view text) {
  const Encoding encoding = tokenizer.encode_with_spans(text);
  require(encoding.ids.size() == encoding.spans.size());
  require(encoding.ids.size() == encoding.types.size());
  for (const std::int32_t id : encoding.ids) {
    require(id >= 0 && id < tokenizer.size());
    tokenizer.piece(id);
    tokenizer.begins_word(id);
  }
  require(word_spans(tokenizer, encoding.ids).size() <= encoding.ids.size());
  tokenizer.decode(encoding.ids);
  io::quote_json(tokenizer.decode(encoding.ids, false));  // throws if the text is not UTF-8
}

void check(std::string content) {
  if (content.starts_with('\n')) {
    content = pipeline::t5_tokenizer_json(pipeline::SpmFile::parse(content, "model"), 2);
  }
  const auto tokenizer = HfTokenizer::parse(content, "file");
  const SpecialTokens special = tokenizer->special();
  for (const std::int32_t id : {special.unknown, special.begin, special.end, special.padding}) {
    require(id >= 0 && id < tokenizer->size());
  }
  check_text(*tokenizer, "The dogs' 狗é\u0301½ﬁ\n  </s> 12");
  check_text(*tokenizer, std::string_view(content).substr(0, 64));
  check_text(*tokenizer, "\xFF\xE7\x8B \x80");
  const auto again = HfTokenizer::parse(tokenizer->files()[0].content, "again");
  require(again->files()[0].content == tokenizer->files()[0].content);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check({reinterpret_cast<const char*>(data), size});
  } catch (const Error& error) {
    io::quote_json(error.what());  // throws, and so fails, if the message is not UTF-8
  }
  return 0;
}
