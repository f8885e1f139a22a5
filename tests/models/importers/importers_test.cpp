// The list of importers: names are different, and an unknown one says what there is.
#include "heed/models/importers/importers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/error_message.h"

namespace heed::importers_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Importers, AreFoundByTheirModelType) {
  std::set<std::string_view> names;
  for (const Importer& importer : importers()) {
    EXPECT_TRUE(names.insert(importer.model_type).second) << importer.model_type;
    EXPECT_FALSE(importer.what.empty()) << importer.model_type;
    EXPECT_EQ(&find_importer(importer.model_type, "config.json"), &importer);
  }
}

TEST(Importers, AnUnknownArchitectureSaysWhatThereIs) {
  EXPECT_THAT(error_message([] { find_importer("mamba", "folder/config.json"); }),
              AllOf(HasSubstr("folder/config.json"), HasSubstr("\"mamba\""), HasSubstr("llama"),
                    HasSubstr("qwen3")));
}

}  // namespace
}  // namespace heed::importers_test
