// Weights of sentences as safetensors and JSON: those of the translation, in a file that is whole
// or absent.
#include "heed/generation/attention_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/examine.h"
#include "heed/io/file.h"
#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using test::letters;
using test::tiny_translator;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kMost = 1 << 24;

std::vector<Translated> translated_by(const Translator& translator) {
  std::vector<Translated> all;
  TranslationFilter filter(translator, {.observed = ObservedWeights::all}, {},
                           [&](const Translated& t) { all.push_back(t); });
  for (const char* const sentence : {"abc", "", "hg fe"}) filter.add(translator.read(sentence));
  filter.flush();
  return all;
}

void write(const std::filesystem::path& path, const Translator& translator) {
  AttentionFile file(path);
  for (const Translated& one : translated_by(translator)) file.add(translator, one);
  file.commit();
}

std::vector<float> floats(const io::SafetensorsEntry& entry) {
  const auto* const data = reinterpret_cast<const float*>(entry.bytes.data());
  return {data, data + entry.bytes.size() / sizeof(float)};
}

// All numbers of lists in lists.
void flatten(const io::Value& value, std::vector<float>& out) {
  if (const auto* const list = value.list()) {
    for (const io::Value& inner : *list) flatten(inner, out);
  } else if (const double* const number = value.floating()) {
    out.push_back(static_cast<float>(*number));
  } else {
    out.push_back(static_cast<float>(*value.integer()));
  }
}

TEST(AttentionFile, HoldsTheWeightsOfTheBestTranslation) {
  const TempDir dir;
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  write(dir / "all.safetensors", translator);
  const auto file = io::SafetensorsFile::open(dir / "all.safetensors");
  EXPECT_EQ(file.entries().size(), 6u) << "three for each sentence that is not empty";
  const Translated last = translated_by(translator)[2];
  const auto& tokens = last.found[0].hypothesis.tokens;
  const ModelWeights weights = examine_weights(translator, {last.source, tokens});
  const auto S = std::ssize(last.source), T = std::ssize(tokens) + 1;
  EXPECT_EQ(file.find("2.encoder").shape, (Shape{1, 2, S, S}));
  EXPECT_EQ(file.find("2.decoder").shape, (Shape{1, 2, T, T}));
  EXPECT_EQ(file.find("2.cross").shape, (Shape{1, 2, T, S}));
  const ModelWeights& observed = *last.found[0].hypothesis.weights;
  const auto check = [&](const char* name, const Tensor& kept, const Tensor& expected) {
    const std::vector<float> written = floats(file.find(name));
    EXPECT_EQ(written, kept.to_vector<float>()) << name;
    EXPECT_THAT(written, testing::Pointwise(testing::FloatNear(1e-5f), expected.to_vector<float>()))
        << name << ", against one pass over the translation";
  };
  check("2.encoder", observed.encoder[0].self, weights.encoder[0].self);
  check("2.decoder", observed.decoder[0].self, weights.decoder[0].self);
  check("2.cross", observed.decoder[0].cross, weights.decoder[0].cross);
}

TEST(AttentionFile, NamesTheTokensOfRowsAndColumns) {
  const TempDir dir;
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  write(dir / "all.safetensors", translator);
  const auto file = io::SafetensorsFile::open(dir / "all.safetensors");
  const io::Value about = io::parse_json(file.metadata().at("2"), "metadata");
  const auto count = [&](std::string_view name) {
    return std::ssize(*io::find(*about.table(), name)->list());
  };
  EXPECT_EQ(count("source"), file.find("2.cross").shape[3]);
  EXPECT_EQ(count("target"), file.find("2.cross").shape[2]);
  EXPECT_EQ(count("target_read"), file.find("2.decoder").shape[3]);
  const auto& source = *io::find(*about.table(), "source")->list();
  EXPECT_EQ(*source[2].string(), "␣");
  EXPECT_EQ(*source.back().string(),
            translator.source()->piece(translator.source()->special().end));
}

TEST(AttentionFile, SaysTheSameInJson) {
  const TempDir dir;
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  write(dir / "all.json", translator);
  write(dir / "all.safetensors", translator);
  const auto file = io::SafetensorsFile::open(dir / "all.safetensors");
  const io::Value all = io::parse_json(io::read_file(dir / "all.json", kMost), "all.json");
  const auto& sentences = *io::find(*all.table(), "sentences")->list();
  ASSERT_EQ(sentences.size(), 3u);
  for (const std::size_t i : {0u, 2u}) {
    const io::Value::Table& sentence = *sentences[i].table();
    EXPECT_EQ(*io::find(sentence, "number")->integer(), static_cast<std::int64_t>(i));
    for (const char* const name : {"encoder", "decoder", "cross"}) {
      std::vector<float> numbers;
      flatten(*io::find(sentence, name), numbers);
      EXPECT_EQ(numbers, floats(file.find(fmt::format("{}.{}", i, name)))) << "to the bit";
    }
  }
  EXPECT_TRUE(io::find(*sentences[1].table(), "cross")->is_null()) << "an empty sentence";
}

TEST(AttentionFile, IsNotThereBeforeItIsWhole) {
  const TempDir dir;
  const Translator translator = tiny_translator(letters(), letters());
  for (const char* const name : {"all.safetensors", "all.json"}) {
    AttentionFile file(dir / name);
    file.add(translator, translated_by(translator)[0]);
    EXPECT_FALSE(std::filesystem::exists(dir / name));
  }
  EXPECT_THAT(dir.names(), IsEmpty());
}

TEST(AttentionFile, MayHoldNothing) {
  const TempDir dir;
  AttentionFile(dir / "none.json").commit();
  io::parse_json(io::read_file(dir / "none.json", kMost), "none.json");
}

TEST(AttentionFile, NeedsTranslationsThatWereObserved) {
  const TempDir dir;
  const Translator translator = tiny_translator(letters(), letters());
  Translated translated{.number = 0, .source = translator.read("abc"), .found = {}};
  translated.found = translator.translate(std::vector<std::string>{"abc"})[0];
  AttentionFile file(dir / "all.json");
  EXPECT_THAT(error_message([&] { file.add(translator, translated); }),
              HasSubstr("was not observed"));
}

TEST(AttentionFile, TakesTwoForms) {
  EXPECT_THAT(error_message([] { AttentionFile file("weights.npz"); }),
              HasSubstr("weights.npz: weights go to a file that ends in .safetensors or .json"));
}

}  // namespace
}  // namespace heed
