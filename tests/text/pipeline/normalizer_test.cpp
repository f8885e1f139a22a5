// Normalizers: the offsets of each character after each of them are those of the package.
#include "heed/text/pipeline/normalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"
#include "tests/text/pipeline/golden_tokenizers.h"

namespace heed::pipeline::normalizer_test {
namespace {

using testing::HasSubstr;

std::string normalized(std::string_view json, std::string_view text) {
  const io::Value value = io::parse_json(json, "f");
  AlignedText aligned = AlignedText::of(text);
  read_normalizer(JsonNode(value, "f"))->normalize(aligned);
  EXPECT_EQ(aligned.text.size(), aligned.spans.size());
  return aligned.text;
}

TEST(Normalizer, OffsetsAreThoseOfThePackage) { test::expect_golden_file("normalizers"); }

TEST(Normalizer, RewritesText) {
  EXPECT_EQ(normalized(R"({"type": "NFC"})", "e\u0301"), "é");
  EXPECT_EQ(normalized(R"({"type": "NFKC"})", "ﬁ½"), "fi1⁄2");
  EXPECT_EQ(normalized(R"({"type": "Lowercase"})", "ΣΑΣ İ"), "σασ i̇");
  EXPECT_EQ(normalized(R"({"type": "Strip"})", "\u3000a b "), "a b");
  EXPECT_EQ(normalized(R"({"type": "Strip", "strip_left": false})", " a "), " a");
  EXPECT_EQ(normalized(R"({"type": "BertNormalizer"})", "É\x01\t中x"), "e  中 x");
  EXPECT_EQ(normalized(R"({"type": "BertNormalizer", "lowercase": false})", "É"), "É");
  EXPECT_EQ(
      normalized(R"({"type": "Replace", "pattern": {"Regex": " +"}, "content": "_"})", "a  b"),
      "a_b");
  EXPECT_EQ(normalized(R"({"type": "Precompiled", "precompiled_charsmap": ""})", "a"), "a");
  EXPECT_EQ(normalized(R"({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "b"},
                          {"type": "Replace", "pattern": {"String": "b"}, "content": ""}]})",
                       "ab"),
            "a");
}

TEST(Normalizer, ErrorsNameThePath) {
  const auto error = [](std::string_view json) {
    return error_message([&] { normalized(json, "a"); });
  };
  EXPECT_THAT(error(R"({"type": "Sequence", "normalizers": [{"type": "Foo"}]})"),
              HasSubstr("f: normalizers[0].type is the string \"Foo\""));
  EXPECT_THAT(error(R"({"type": "Replace", "pattern": {"Glob": "*"}, "content": ""})"),
              HasSubstr("\"String\" or \"Regex\""));
  EXPECT_THAT(error(R"({"type": "Precompiled", "precompiled_charsmap": "?"})"),
              HasSubstr("not base64"));
}

}  // namespace
}  // namespace heed::pipeline::normalizer_test
