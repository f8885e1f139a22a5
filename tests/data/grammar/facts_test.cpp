// Sentences of how things are.
#include "heed/data/grammar/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include "tests/data/grammar/say.h"

namespace heed::grammar {
namespace {

std::set<std::string> many(Clause (*make)(Speaker&)) {
  std::set<std::string> all;
  for (int i = 0; i < 5000; ++i) {
    Speaker speaker(1, i);
    const Clause clause = make(speaker);
    all.insert(both(clause.phrase) + clause.mark);
  }
  return all;
}

bool some(const std::set<std::string>& all, const char* pattern) {
  const std::regex regex(pattern);
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& text) { return std::regex_match(text, regex); });
}

TEST(Facts, Compare) {
  const auto all = many(comparison);
  EXPECT_TRUE(some(all, "this .* is bigger than that .* = 这.*比那.*大\\."));
  EXPECT_TRUE(some(all, ".* is much taller than Tom = .*比汤姆高得多\\."));
  EXPECT_TRUE(some(all, ".* is not as busy as .* = .*没有.*忙\\."));
  EXPECT_TRUE(some(all, "are those .* than .* = 那些.*比.*吗\\?"));
  EXPECT_TRUE(some(all, ".* is two years older than .* = .*比.*大两岁\\."));
}

TEST(Facts, Describe) {
  const auto all = many(quality);
  EXPECT_TRUE(all.contains("Mary is very tall = 玛丽很高."));
  EXPECT_TRUE(all.contains("they are not busy = 他们不忙."));
  EXPECT_TRUE(all.contains("are you careful = 你细心吗?"));
}

TEST(Facts, SayWhatThereIs) {
  const auto all = many(existence);
  EXPECT_TRUE(some(all, "there are .* on the table = 桌子上有.*\\."));
  EXPECT_TRUE(some(all, "is there a .* = .*有一.*吗\\?"));
  for (const std::string& text : all) {
    EXPECT_FALSE(std::regex_search(text, std::regex("a bank (near|behind|next to) the bank")));
  }
}

TEST(Facts, SayWhereThingsAre) {
  const auto all = many(location);
  EXPECT_TRUE(some(all, "my .* is on the table = 我的.*在桌子上\\."));
  EXPECT_TRUE(some(all, ".* is not in the box = .*不在箱子里\\."));
}

TEST(Facts, SayWhatPeopleHave) {
  const auto all = many(possession);
  EXPECT_TRUE(some(all, "Tom has .* = 汤姆有.*\\."));
  EXPECT_TRUE(some(all, "I do not have .* = 我没有.*\\."));
  EXPECT_TRUE(some(all, "does she have .* = 她有.*吗\\?"));
}

TEST(Facts, ReportTheWeather) {
  const auto all = many(weather);
  EXPECT_TRUE(all.contains("it rained in Beijing yesterday = 昨天北京下雨了."));
  EXPECT_TRUE(all.contains("it did not snow in London last week = 上个星期伦敦没下雪."));
  EXPECT_TRUE(some(all, "will it rain in Paris .* = .*巴黎会下雨吗\\?"));
  EXPECT_TRUE(some(all, "it was colder in Rome than in .* = .*罗马比.*冷\\."));
}

TEST(Facts, CountAndDate) {
  const auto all = many(numbers_and_dates);
  EXPECT_TRUE(some(all, "Tom was born in .* on .*, .* = 汤姆.*年.*月.*日在.*出生\\."));
  EXPECT_TRUE(all.contains("it is two o'clock in the afternoon now = 现在是下午两点."));
  EXPECT_TRUE(some(all, "my birthday is .* = 我的生日是.*月.*日\\."));
  EXPECT_TRUE(some(all, "this .* costs two hundred yuan = 这.*要两百元\\."));
  EXPECT_TRUE(some(all, "Anna is .* years old = 安娜.*岁\\."));
  for (const std::string& text : all) {  // a day that everybody can look up
    if (text.starts_with("January 1, 2000 was")) {
      EXPECT_EQ(text, "January 1, 2000 was a Saturday = 2000年1月1日是星期六.");
    }
  }
}

}  // namespace
}  // namespace heed::grammar
