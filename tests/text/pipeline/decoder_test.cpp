// Decoders; the golden files have whole texts.
#include "heed/text/pipeline/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::decoder_test {
namespace {

std::string decoded(std::string_view json, std::vector<std::string> tokens) {
  const io::Value value = io::parse_json(json, "f");
  read_decoder(JsonNode(value, "f"))->decode(tokens);
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

TEST(Decoder, MakesText) {
  EXPECT_EQ(decoded(R"({"type": "ByteLevel"})", {"Ġdog", "çĭ", "Ĺ"}), " dog狗");
  EXPECT_EQ(decoded(R"({"type": "WordPiece"})", {"un", "##able", "!", "do", "n't"}),
            "unable! don't");
  EXPECT_EQ(decoded(R"({"type": "WordPiece", "cleanup": false})", {"a", "!"}), "a !");
  EXPECT_EQ(decoded(R"({"type": "Metaspace", "replacement": "▁"})", {"▁a", "▁b"}), "a b");
  EXPECT_EQ(
      decoded(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"})", {"▁a"}),
      " a");
  EXPECT_EQ(decoded(R"({"type": "BPEDecoder"})", {"a</w>", "b", "c</w>"}), "a bc");
  EXPECT_EQ(decoded(R"({"type": "ByteFallback"})",
                    {"<0xE7>", "<0x8B>", "<0x97>", "a", "<0xE7>", "<0x8B>"}),
            "狗a\uFFFD\uFFFD");
  EXPECT_EQ(
      decoded(
          R"({"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                       {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 1}]})",
          {"▁▁a", "▁"}),
      " a");
}

TEST(Decoder, BrokenBytesBecomeReplacementCharacters) {
  // One for each part that could have begun a character, as Rust does it.
  EXPECT_EQ(decoded(R"({"type": "ByteLevel"})", {"çĭ", "a"}), "\uFFFDa");
  EXPECT_EQ(decoded(R"({"type": "ByteLevel"})", {"ç", "ç"}), "\uFFFD\uFFFD");
  EXPECT_EQ(decoded(R"({"type": "ByteLevel"})", {"ðŁĺ"}), "\uFFFD");
}

TEST(Decoder, AnUnknownTypeIsAnError) {
  EXPECT_THAT(error_message([] { decoded(R"({"type": "CTC"})", {}); }),
              testing::HasSubstr("f: type is the string \"CTC\": expected a decoder: ByteLevel"));
}

}  // namespace
}  // namespace heed::pipeline::decoder_test
