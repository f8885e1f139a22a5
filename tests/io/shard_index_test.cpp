// The index of sharded weights, right and wrong.
#include "heed/io/shard_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::io::shard_index_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string error_of(std::string_view json) {
  return error_message([&] { parse_shard_index(json, "i.json"); });
}

TEST(ShardIndex, ReadsTheWeightMap) {
  const ShardIndex index = parse_shard_index(
      R"({"metadata":{"total_size":3},"weight_map":{"b":"2.st","a":"1.st","c":"2.st"}})", "i.json");
  EXPECT_THAT(index.files, ElementsAre("1.st", "2.st"));
  EXPECT_THAT(index.tensors, ElementsAre(Pair("b", 1), Pair("a", 0), Pair("c", 1)));
}

TEST(ShardIndex, AnythingElseIsRefused) {
  EXPECT_THAT(error_of("[]"), HasSubstr("[shards] i.json: the index must be an object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("weight_map is missing"));
  EXPECT_THAT(error_of(R"({"weight_map":[]})"), HasSubstr("weight_map must be an object"));
  EXPECT_THAT(error_of(R"({"weight_map":{}})"), HasSubstr("weight_map is empty"));
  EXPECT_THAT(error_of(R"({"weight_map":{"a":3}})"),
              HasSubstr("the file of tensor \"a\" must be the name of a file in the same folder"));
  EXPECT_THAT(error_of(R"({"weight_map":{"a":"x","a":"y"}})"), HasSubstr("a"));
  EXPECT_NE(error_of(R"({"weight_map":{"a":"x","a":"y"}})"), "(no error)") << "in two files";
}

TEST(ShardIndex, AFileNameMayNotLeaveTheFolder) {
  for (const char* name : {"../x", "/etc/x", "a/b", "..", ".", "", "a\\\\b", "a\\u0000b"}) {
    EXPECT_THAT(error_of(fmt::format(R"({{"weight_map":{{"a":"{}"}}}})", name)),
                HasSubstr("must be the name of a file in the same folder"))
        << name;
  }
}

}  // namespace
}  // namespace heed::io::shard_index_test
