#include "heed/attention/describe.h"

#include <gtest/gtest.h>

#include "heed/attention/masks.h"
#include "heed/attention/position.h"
#include "heed/attention/registry.h"

namespace heed {
namespace {

TEST(Describe, EveryMechanismAndPositionInTheirOrder) {
  const io::Value all = describe_mechanisms();
  const io::Value::List& described = *io::find(*all.table(), "mechanisms")->list();
  ASSERT_EQ(described.size(), mechanisms().size());
  for (std::size_t i = 0; i < described.size(); ++i) {
    const Mechanism& mechanism = mechanisms()[i];
    const io::Value::Table& table = *described[i].table();
    EXPECT_EQ(*io::find(table, "name")->string(), mechanism.name);
    EXPECT_EQ(*io::find(table, "formula")->string(), mechanism.about.formula);
    EXPECT_EQ(io::find(table, "options")->list()->size(), mechanism.options().size());
    const io::Value::Table& traits = *io::find(table, "traits")->table();
    EXPECT_EQ(*io::find(traits, "causal")->boolean(), mechanism.traits.causal);
    EXPECT_EQ(*io::find(traits, "decodes")->boolean(), mechanism.traits.decodes);
  }
  EXPECT_EQ(io::find(*all.table(), "positions")->list()->size(), positions().size());
  EXPECT_EQ(io::find(*all.table(), "masks")->list()->size(), masks().size());
}

}  // namespace
}  // namespace heed
