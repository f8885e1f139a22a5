#include "heed/training/train_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/training/train_config.h"
#include "tests/support/paths.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(TrainReference, HasEveryKey) {
  const std::string text = train_reference();
  for (const io::FieldInfo& field : io::list_fields(TrainConfig{})) {
    EXPECT_FALSE(field.help.empty()) << field.path << " has no description";
    const std::string key = field.path.substr(field.path.rfind('.') + 1);
    EXPECT_THAT(text, HasSubstr(fmt::format("| `{}` |", key)));
  }
  EXPECT_THAT(text, HasSubstr("| `task` | `translate`, `language`, `classify`, `embed`, `fill`, "
                              "`recognise`, `point`, `copy`, `read`, `answer`, `caption` | "
                              "`\"translate\"` |"));
  EXPECT_THAT(text, HasSubstr("\n## [validation.search]\n\nhow validation translates\n"));
}

TEST(TrainReference, TheDocumentIsUpToDate) {
  constexpr std::string_view kMark = "<!-- heed train --reference -->\n";
  const std::string page =
      io::read_file(test::project_path("docs/reference/train-config.md"), 1 << 20);
  ASSERT_THAT(page, HasSubstr(kMark));
  EXPECT_TRUE(page.substr(page.find(kMark) + kMark.size()) == train_reference())
      << "put what heed train --reference prints after the mark in docs/reference/train-config.md";
}

}  // namespace
}  // namespace heed
