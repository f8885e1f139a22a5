// Rotary positions of Hugging Face configs as position codes: both spellings, all scalings.
#include "heed/models/importers/rotary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/attention/choice.h"
#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::rotary_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ForeignConfig config_of(std::string_view json) {
  return {io::parse_json(json, "config.json"), "config.json"};
}
std::string rope_of(std::string_view json) {
  const std::string text = import_rope(config_of(json));
  const PositionChoice choice(text);  // it has only options that there are
  EXPECT_EQ(choice.config().name, "rope");
  return text;
}

TEST(ImportRope, BothSpellingsOfTheBase) {
  EXPECT_EQ(rope_of("{}"), "rope halves=true base=10000");
  EXPECT_EQ(rope_of(R"({"rope_theta": 500000.0, "rope_scaling": null})"),
            "rope halves=true base=500000");
  EXPECT_EQ(rope_of(R"({"rope_parameters": {"rope_type": "default", "rope_theta": 100}})"),
            "rope halves=true base=100");
}

TEST(ImportRope, AllScalings) {
  EXPECT_EQ(rope_of(R"({"rope_scaling": {"type": "linear", "factor": 2.5}})"),
            "rope halves=true base=10000 scaling_kind=linear scaling=2.5");
  EXPECT_EQ(rope_of(R"({"max_position_embeddings": 64,
                        "rope_parameters": {"rope_type": "dynamic", "factor": 2}})"),
            "rope halves=true base=10000 scaling_kind=dynamic scaling=2 original_length=64");
  EXPECT_EQ(rope_of(R"({"max_position_embeddings": 256, "rope_theta": 500000,
                        "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
                          "high_freq_factor": 4, "original_max_position_embeddings": 32}})"),
            "rope halves=true base=500000 scaling_kind=llama3 scaling=8 original_length=32 "
            "low_frequency_factor=1 high_frequency_factor=4");
  EXPECT_EQ(rope_of(R"({"max_position_embeddings": 256,
                        "rope_scaling": {"type": "yarn", "factor": 4,
                          "original_max_position_embeddings": 64, "attention_factor": 1.5}})"),
            "rope halves=true base=10000 scaling_kind=yarn scaling=4 original_length=64 "
            "beta_fast=32 beta_slow=1 attention_factor=1.5");
}

TEST(ImportRope, RefusesWhatItDoesNotCompute) {
  EXPECT_THAT(error_message([] {
                import_rope(config_of(R"({"rope_scaling": {"type": "longrope"},
                                          "max_position_embeddings": 64})"));
              }),
              AllOf(HasSubstr("config.json"), HasSubstr("\"longrope\""), HasSubstr("yarn")));
  EXPECT_THAT(
      error_message([] { import_rope(config_of(R"({"rope_scaling": {"type": "linear"}})")); }),
      HasSubstr("\"factor\""));
}

}  // namespace
}  // namespace heed::rotary_test
