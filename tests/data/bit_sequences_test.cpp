// Sequences of bits from files: what lines say, what is wrong with them, and batches of sequences
// of different lengths.
#include "heed/data/bit_sequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::bit_sequences_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string fault_of(std::string_view line, const BitWidths& widths = {}) {
  BitSequence sequence;
  const auto fault = parse_bits(line, widths, sequence);
  return fault ? fault->what : "";
}

TEST(BitSequences, LinesAreReadAndWritten) {
  const std::string line = "101 001 output 10 01 11";
  BitSequence sequence;
  ASSERT_FALSE(parse_bits(" 101\t001 output 10 01  11\r", {}, sequence));
  EXPECT_THAT(sequence.input, ElementsAre("101", "001"));
  EXPECT_THAT(sequence.output, ElementsAre("10", "01", "11"));
  EXPECT_EQ(bits_line(sequence), line);
  ASSERT_FALSE(parse_bits("1 0", {}, sequence));
  EXPECT_FALSE(sequence.has_output) << "nothing is left of the line before";
  EXPECT_EQ(bits_line(sequence), "1 0");
}

TEST(BitSequences, BadLinesSayWhy) {
  EXPECT_THAT(fault_of(""), HasSubstr("empty"));
  EXPECT_EQ(fault_of("output 1"), "has no vector to read");
  EXPECT_EQ(fault_of("10 21 output 1"), "has \"21\" where a vector of 0 and 1 is expected");
  EXPECT_EQ(fault_of("10 1 output 1"), "has the vector \"1\" of 1 bits: there must be 2");
  EXPECT_EQ(fault_of("10 output 1 00"), "has the vector \"00\" of 2 bits: there must be 1");
  EXPECT_EQ(fault_of("10 output 1", {3, 1}), "has the vector \"10\" of 2 bits: there must be 3");
  EXPECT_EQ(fault_of("10 output 1 output 1"),
            "has \"output\" where a vector of 0 and 1 is expected");
}

TEST(BitSequences, TheFirstLineDecidesWidths) {
  const TempDir dir;
  io::write_file(dir / "bits", "10 11 output 1\n01 output 0 1\n111 output 1\n10\n");
  EXPECT_THAT(error_message([&] { read_bits(dir / "bits"); }),
              HasSubstr("bits:3 has the vector \"111\" of 3 bits: there must be 2"));
  const BitCorpus corpus = read_bits(dir / "bits", {}, OnBad::skip);
  EXPECT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.bad.total(), 2);
  EXPECT_EQ(corpus.widths, (BitWidths{2, 1}));
  EXPECT_THAT(error_message([&] {
                read_bits(dir / "bits", {4, 1});
              }),
              HasSubstr("bits:1 has the vector \"10\""));
}

TEST(BitSequences, BatchesWriteAfterTheyHaveRead) {
  BitCorpus corpus{.widths = {2, 1}};
  corpus.sequences = {{{"10", "11"}, {"1"}, true}, {{"01"}, {"0", "1", "1"}, true}};
  const BitBatch batch = make_batch(corpus, std::vector<std::int32_t>{0, 1});
  EXPECT_EQ(batch.input.shape(), (Shape{2, 4, 2}));
  EXPECT_THAT(batch.input.to_vector<float>(),
              ElementsAre(1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(batch.output.to_vector<float>(), ElementsAre(0, 0, 1, 0, 0, 0, 1, 1));
  EXPECT_THAT(batch.counts.to_vector<float>(), ElementsAre(0, 0, 1, 0, 0, 1, 1, 1));
  EXPECT_EQ(batch.steps, 7);
  EXPECT_EQ(batch.bits, 4);
  const BitSequence open{{"10"}, {}, false};
  const BitSequence* const one = &open;
  const BitBatch asked = make_batch({&one, 1}, {2, 1}, 3);
  EXPECT_EQ(asked.input.shape(), (Shape{1, 4, 2})) << "so many vectors are asked for";
  EXPECT_EQ(asked.bits, 3);
}

TEST(BitSequences, StreamsReturnToAPosition) {
  BitCorpus made{.widths = {2, 1}};
  made.sequences = {{{"10", "11"}, {"1"}, true}, {{"01"}, {"0"}, true}, {{"00"}, {"1"}, true}};
  const auto corpus = std::make_shared<const BitCorpus>(made);
  BitStream stream(corpus, {.batch_sentences = 1}), other(corpus, {.batch_sentences = 1});
  stream.next();
  other.seek(stream.position());
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(stream.next().input.to_vector<float>(), other.next().input.to_vector<float>());
  }
}

}  // namespace
}  // namespace heed::bit_sequences_test
