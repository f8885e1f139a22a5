// Unigram models; the golden file has whole texts.
#include "heed/text/pipeline/unigram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::unigram_test {
namespace {

using testing::ElementsAre;

std::vector<Subword> tokens(std::string_view json, std::string_view word) {
  const io::Value value = io::parse_json(json, "f");
  const Unigram model(JsonNode(value, "f", "model"));
  std::vector<Subword> out;
  model.tokenize(word, out);
  return out;
}

TEST(Unigram, TakesTheBestSum) {
  constexpr std::string_view kModel =
      R"({"vocab": [["?", 0], ["a", -1], ["b", -1], ["ab", -1.5], ["abb", -4]], "unk_id": 0})";
  EXPECT_THAT(tokens(kModel, "abb"), ElementsAre(Subword{3, 0, 2}, Subword{2, 2, 3}));
  EXPECT_THAT(tokens(kModel, "axy狗b"),
              ElementsAre(Subword{1, 0, 1}, Subword{0, 1, 6}, Subword{2, 6, 7}));
}

TEST(Unigram, FallsBackToBytes) {
  std::string vocab = R"(["?", 0])";
  for (int byte = 0; byte < 256; ++byte) vocab += fmt::format(", [\"<0x{:02X}>\", 0]", byte);
  const std::string model =
      fmt::format(R"({{"vocab": [{}], "unk_id": 0, "byte_fallback": true}})", vocab);
  EXPECT_THAT(tokens(model, "é"), ElementsAre(Subword{0xC3 + 1, 0, 2}, Subword{0xA9 + 1, 0, 2}));
}

TEST(Unigram, ErrorsSayWhatIsMissing) {
  using testing::HasSubstr;
  EXPECT_THAT(error_message([] { tokens(R"({"vocab": [["a", 0]]})", "b"); }),
              HasSubstr("a token for \"b\""));
  EXPECT_THAT(error_message([] { tokens(R"({"vocab": [["a"]]})", "b"); }),
              HasSubstr("f: model.vocab[0]"));
  EXPECT_THAT(error_message([] { tokens(R"({"vocab": [["a", 0]], "unk_id": 1})", "b"); }),
              HasSubstr("model.unk_id"));
}

}  // namespace
}  // namespace heed::pipeline::unigram_test
