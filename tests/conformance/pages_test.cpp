// Every mechanism has a page in docs/attention/ with its picture, a C++ example (which the
// snippets' tests run) and a config that makes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "heed/attention/registry.h"
#include "heed/io/config.h"
#include "tests/support/paths.h"

namespace heed {
namespace {

using testing::HasSubstr;

const std::filesystem::path kPages = test::project_path("docs/attention");

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The content of the first block of that language.
std::string block(const std::string& page, const std::string& language) {
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = page.find(fence);
  if (begin == page.npos) return "";
  const std::size_t from = begin + fence.size();
  return page.substr(from, page.find("```", from) - from);
}

TEST(Pages, EveryMechanismHasOne) {
  const std::string index = text_of(kPages / "README.md");
  const std::string chinese = text_of(kPages / "README.zh-CN.md");
  for (const Mechanism& mechanism : mechanisms()) {
    const std::string name(mechanism.name);
    const std::string page = text_of(kPages / (name + ".md"));
    ASSERT_FALSE(page.empty()) << "docs/attention/" << name << ".md is missing";
    EXPECT_THAT(page, HasSubstr("](" + name + ".svg)"));
    EXPECT_TRUE(std::filesystem::exists(kPages / (name + ".svg"))) << name;
    EXPECT_FALSE(block(page, "cpp").empty()) << name;
    for (const std::string_view fact : {mechanism.about.title, mechanism.about.formula,
                                        mechanism.about.paper, mechanism.about.cost}) {
      EXPECT_THAT(page, HasSubstr(std::string(fact))) << name;
    }
    EXPECT_THAT(index, HasSubstr("](" + name + ".md)"));
    EXPECT_THAT(chinese, HasSubstr("](" + name + ".md)"));
  }
}

TEST(Pages, TheirConfigsMakeTheMechanism) {
  for (const Mechanism& mechanism : mechanisms()) {
    const std::string name(mechanism.name);
    const std::string config = block(text_of(kPages / (name + ".md")), "toml");
    ASSERT_FALSE(config.empty()) << name;
    AttentionChoice choice;
    io::load_toml(config, choice, name + ".md");
    EXPECT_EQ(choice.name, name);
    Generator generator(1);
    EXPECT_NE(make_attention(choice.name, choice.options, generator), nullptr);
  }
}

}  // namespace
}  // namespace heed
