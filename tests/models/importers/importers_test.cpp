// The list of importers: names are different, an unknown one says what there is, and each refuses a
// config of which any key is wrong.
#include "heed/models/importers/importers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <utility>

#include "tests/support/error_message.h"
#include "tests/support/paths.h"

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

// The table without a key, or with a list in its place.
ForeignConfig spoil(io::Value::Table table, std::size_t key, bool is_absent) {
  if (is_absent) {
    table.erase(table.begin() + static_cast<std::ptrdiff_t>(key));
  } else {
    table[key].value.data = io::Value::List{};
  }
  return {io::Value{.data = std::move(table)}, "config.json"};
}

// g++ 12 destroys an inner struct twice if a later member of the outer one throws, unless the type
// of the inner one is named.
TEST(Importers, AnyKeyMayBeWrong) {
  int refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::golden_path("hf"))) {
    SCOPED_TRACE(entry.path().filename());
    const ForeignConfig config = ForeignConfig::read(entry.path() / "config.json");
    const io::TensorSource tensors = io::TensorSource::open(entry.path());
    for (std::size_t key = 0; key < config.table().size(); ++key) {
      for (const bool is_absent : {true, false}) {
        const ForeignConfig spoilt = spoil(config.table(), key, is_absent);
        const std::string message = error_message(
            [&] { find_importer(spoilt.text("model_type"), "config.json").read(spoilt, tensors); });
        refused += message == "(no error)" ? 0 : 1;
      }
    }
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace heed::importers_test
