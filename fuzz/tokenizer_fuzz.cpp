// Fuzzes the reading of tokenizers of every kind: any bytes are either rejected with a heed::Error
// or give a tokenizer that accepts any text, returns only ids of its vocabulary and can be read
// back from its own file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "heed/io/json.h"
#include "heed/text/tokenizer.h"

namespace {

using namespace heed;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const std::string& content) {
  const auto tokenizer = parse_tokenizer(content, "file");
  const auto size = static_cast<std::int32_t>(tokenizer->size());
  const SpecialTokens special = tokenizer->special();
  for (const std::int32_t id : {special.unknown, special.begin, special.end, special.padding}) {
    require(id >= 0 && id < size);
  }
  for (const std::string& text : {std::string("the dog@@ 狗\n"), content.substr(0, 64)}) {
    const std::vector<std::int32_t> ids = tokenizer->encode(text);
    for (const std::int32_t id : ids) {
      require(id >= 0 && id < size);
      tokenizer->piece(id);
    }
    tokenizer->decode(ids);
    require(word_spans(*tokenizer, ids).size() <= ids.size());
  }
  const auto again = parse_tokenizer(tokenizer->files()[0].content, "again");
  require(again->kind() == tokenizer->kind());
  require(again->size() == tokenizer->size());
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
