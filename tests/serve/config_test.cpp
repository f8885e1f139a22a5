#include "heed/serve/config.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/io/config.h"

namespace heed::serve {
namespace {

TEST(ServeConfig, ReadsNamesOfModels) {
  EXPECT_EQ(parse_model("en-fr=/models/opus").name, "en-fr");
  EXPECT_EQ(parse_model("en-fr=/models/a=b").folder, "/models/a=b");
  EXPECT_EQ(parse_model("/models/opus/").name, "opus");
  EXPECT_EQ(parse_model("opus").folder, "opus");
  for (const char* const bad : {"", "=folder", "a b=folder", "x=", "\"=folder"}) {
    EXPECT_THROW(parse_model(bad), Error) << bad;
  }
}

TEST(ServeConfig, IsReadFromAFile) {
  ServeConfig config;
  io::load_toml("models = [\"a=b\"]\nport = 9000\n[limits]\nqueue = 7\n[scheduling]\nworkers = 1",
                config);
  EXPECT_EQ(config.port, 9000);
  EXPECT_EQ(config.limits.queue, 7);
  EXPECT_EQ(config.scheduling.workers, 1);
  EXPECT_THROW(io::load_toml("[limits]\nqueue = 0", config), Error);
  EXPECT_THROW(io::load_toml("models = [\"a=b\", \"a=c\"]", config), Error);
  EXPECT_THROW(io::load_toml("tls_key = \"k\"", config), Error);
}

}  // namespace
}  // namespace heed::serve
