// heed list: shows the attention mechanisms and position codes that configs can name.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "cli/verbs.h"
#include "heed/attention/describe.h"
#include "heed/attention/masks.h"
#include "heed/attention/position.h"
#include "heed/attention/registry.h"
#include "heed/io/json.h"
#include "heed/models/kinds.h"

namespace heed::cli {
namespace {

void print_json() { fmt::print("{}\n", io::write_json(describe_mechanisms(), true)); }

void print_one(const Mechanism& mechanism) {
  const About& about = mechanism.about;
  fmt::print("{}: {}\n", mechanism.name, about.title);
  fmt::print("  formula   {}\n  paper     {}\n  cost      {}\n  composes  {}\n  options\n",
             about.formula, about.paper, about.cost, about.composes);
  for (const io::FieldInfo& option : mechanism.options()) {
    fmt::print("    {:<24} {:<10} {}\n", option.path, option.value, option.help);
  }
}

// A list of entries that have a name and a description.
template <typename Entry>
void print_names(std::string_view title, std::span<const Entry> entries) {
  std::size_t width = 0;
  for (const Entry& entry : entries) width = std::max(width, entry.name.size());
  fmt::print("\n{}\n", title);
  for (const Entry& entry : entries) fmt::print("  {:<{}}  {}\n", entry.name, width, entry.what);
}

void print_all() {
  std::size_t name = 0, cost = 0, title = 0;
  for (const Mechanism& mechanism : mechanisms()) {
    name = std::max(name, mechanism.name.size());
    cost = std::max(cost, mechanism.about.cost.size());
    title = std::max(title, mechanism.about.title.size());
  }
  fmt::print("Attention mechanisms (n positions, d features; `heed list NAME` shows options)\n");
  for (const Mechanism& mechanism : mechanisms()) {
    const About& about = mechanism.about;
    fmt::print("  {:<{}}  {:<{}}  {:<{}}  {}\n", mechanism.name, name, about.title, title,
               about.cost, cost, about.paper);
  }
  print_names("Position codes", positions());
  print_names("Masks, for programs", masks());
  print_names("Kinds of models, by task", model_kinds());
}

}  // namespace

void add_list(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand(
      "list", "Show attention mechanisms, position codes, masks and kinds of models");
  const auto name = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  verb->add_option("name", *name, "show only this mechanism, with its options");
  verb->add_flag("--json", *json, "everything as JSON");
  verb->callback([name, json] {
    if (*json) return print_json();
    name->empty() ? print_all() : print_one(find_mechanism(*name));
  });
}

}  // namespace heed::cli
