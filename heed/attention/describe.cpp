#include "heed/attention/describe.h"

#include "heed/attention/masks.h"
#include "heed/attention/position.h"
#include "heed/attention/registry.h"

namespace heed {
namespace {

io::Value text(std::string_view words) { return {std::string(words)}; }

io::Value described(const Mechanism& mechanism) {
  io::Value::List options;
  for (const io::FieldInfo& option : mechanism.options()) {
    options.push_back({io::Value::Table{{"name", text(option.path)},
                                        {"type", text(option.type)},
                                        {"default", text(option.value)},
                                        {"help", text(option.help)}}});
  }
  const Traits& can = mechanism.traits;
  io::Value::Table traits = {
      {"self", {can.self}},       {"cross", {can.cross}},
      {"lengths", {can.lengths}}, {"causal", {can.causal}},
      {"masks", {can.mask}},      {"decodes", {can.decodes}},
      {"fused", {can.fused}},     {"gradient", text(io::enum_name(can.gradient))},
      {"growth", {can.growth}}};
  return {io::Value::Table{{"name", text(mechanism.name)},
                           {"title", text(mechanism.about.title)},
                           {"formula", text(mechanism.about.formula)},
                           {"paper", text(mechanism.about.paper)},
                           {"cost", text(mechanism.about.cost)},
                           {"composes", text(mechanism.about.composes)},
                           {"traits", {std::move(traits)}},
                           {"options", {std::move(options)}}}};
}

// Name and description of each entry.
template <typename Entry>
io::Value named(std::span<const Entry> entries) {
  io::Value::List all;
  for (const Entry& entry : entries) {
    all.push_back({io::Value::Table{{"name", text(entry.name)}, {"what", text(entry.what)}}});
  }
  return {std::move(all)};
}

}  // namespace

io::Value describe_mechanisms() {
  io::Value::List all;
  for (const Mechanism& mechanism : mechanisms()) all.push_back(described(mechanism));
  return {io::Value::Table{{"mechanisms", {std::move(all)}},
                           {"positions", named(positions())},
                           {"masks", named(masks())}}};
}

}  // namespace heed
