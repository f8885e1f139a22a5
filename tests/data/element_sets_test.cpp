// Sets of elements from files: what lines say, what is wrong with them, and batches of sets of
// different sizes.
#include "heed/data/element_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::element_sets_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string fault_of(std::string_view line, const ElementReading& reading = {}) {
  ElementSet set;
  const auto fault = parse_elements(line, reading, set);
  return fault ? fault->what : "";
}

TEST(ElementSets, LinesAreRead) {
  ElementSet set;
  EXPECT_FALSE(parse_elements("0.5 -1 \t 2e-1 3 output 2 1 2\r", {}, set));
  EXPECT_THAT(set.numbers, ElementsAre(0.5f, -1.0f, 0.2f, 3.0f));
  EXPECT_THAT(set.pointed, ElementsAre(2, 1, 2));
  EXPECT_TRUE(set.has_output);
  EXPECT_FALSE(parse_elements("1 2 3", {.features = 1}, set));
  EXPECT_THAT(set.numbers, ElementsAre(1.0f, 2.0f, 3.0f));
  EXPECT_FALSE(set.has_output) << "nothing is left of the line before";
  EXPECT_THAT(set.pointed, ElementsAre());
  EXPECT_FALSE(parse_elements("1 2 output", {}, set)) << "there may be nothing to point at";
  EXPECT_TRUE(set.has_output);
}

TEST(ElementSets, LinesAreWrittenAsTheyAreRead) {
  const std::string line = "0.500000 0.125000 0.300000 0.000001 output 2 1";
  ElementSet set;
  ASSERT_FALSE(parse_elements(line, {}, set));
  EXPECT_EQ(elements_line(set), line);
  set.has_output = false;
  set.pointed.clear();
  EXPECT_EQ(elements_line(set), "0.500000 0.125000 0.300000 0.000001");
}

TEST(ElementSets, BadLinesSayWhy) {
  EXPECT_THAT(fault_of(""), HasSubstr("empty"));
  EXPECT_EQ(fault_of("1 2 3 output 1"), "has 3 numbers: elements have 2 each");
  EXPECT_EQ(fault_of("output 1"), "has 0 numbers: elements have 2 each");
  EXPECT_EQ(fault_of("1 two output 1"), "has \"two\" where a number is expected");
  EXPECT_EQ(fault_of("1 nan output 1"), "has \"nan\" where a number is expected");
  EXPECT_EQ(fault_of("1 2 3 4 output 3"),
            "points at \"3\": positions are from 1 to 2, its number of elements");
  EXPECT_THAT(fault_of("1 2 3 4 output 0"), HasSubstr("points at \"0\""));
  EXPECT_THAT(fault_of("1 2 3 4 output 1.5"), HasSubstr("points at \"1.5\""));
  EXPECT_EQ(fault_of("1 2 3 4 output 1 2 1"), "");
  EXPECT_EQ(fault_of("1 2 3 4 output 1 2 1", {.each_once = true}),
            "points at element 1 twice, and the model points at each once");
}

TEST(ElementSets, FilesAreReadWithAPolicy) {
  const TempDir dir;
  io::write_file(dir / "sets", "1 2 3 4 output 2\n1 2\n1 2 output 1\n1 2 3 output 1\n");
  EXPECT_THAT(error_message([&] { read_elements(dir / "sets", {}); }),
              HasSubstr("sets:2 has no \"output\""));
  const ElementCorpus corpus = read_elements(dir / "sets", {.on_bad = OnBad::skip});
  EXPECT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.bad.total(), 2);
  EXPECT_EQ(corpus.elements(0), 2);
  EXPECT_THAT(corpus.numbers_of(1), ElementsAre(1.0f, 2.0f));
}

ElementCorpus three_sets() {
  ElementCorpus corpus{.features = 2};
  corpus.add({{1, 2, 3, 4, 5, 6}, {3, 1}, true});
  corpus.add({{7, 8}, {}, true});
  corpus.add({{9, 10, 11, 12}, {2, 1, 2}, true});
  return corpus;
}

TEST(ElementSets, BatchesArePadded) {
  const ElementCorpus corpus = three_sets();
  const ElementBatch batch = make_batch(corpus, std::vector<std::int32_t>{2, 1});
  EXPECT_EQ(batch.elements.shape(), (Shape{2, 2, 2}));
  EXPECT_THAT(batch.elements.to_vector<float>(), ElementsAre(9, 10, 11, 12, 7, 8, 0, 0));
  EXPECT_THAT(batch.lengths.to_vector<std::int64_t>(), ElementsAre(2, 1));
  EXPECT_THAT(batch.pointed.to_vector<std::int64_t>(), ElementsAre(2, 1, 2, 0, 0, 0, 0, 0));
  EXPECT_THAT(batch.expected.to_vector<std::int64_t>(),
              ElementsAre(2, 1, 2, 0, 0, kNoPosition, kNoPosition, kNoPosition));
  EXPECT_EQ(batch.element_count, 3);
  EXPECT_EQ(batch.position_count, 5);
}

TEST(ElementSets, StreamsReturnToAPosition) {
  const auto corpus = std::make_shared<const ElementCorpus>(three_sets());
  ElementStream stream(corpus, {.batch_sentences = 1}), other(corpus, {.batch_sentences = 1});
  stream.next();
  other.seek(stream.position());
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(stream.next().elements.to_vector<float>(), other.next().elements.to_vector<float>());
  }
}

}  // namespace
}  // namespace heed::element_sets_test
