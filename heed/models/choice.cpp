#include "heed/models/choice.h"

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/suggest.h"
#include "heed/io/config.h"

namespace heed {
namespace {

// Values are checked where layers are made of them, which costs more than a look at the names.
void check_option_names(const AttentionChoice& choice) {
  const std::vector<io::FieldInfo> known = find_mechanism(choice.name).options();
  std::vector<std::string_view> names;
  for (const io::FieldInfo& field : known) names.push_back(field.path);
  for (const std::string& option : choice.options) {
    std::string name = option.substr(0, option.find('='));
    std::ranges::replace(name, '-', '_');  // as in flags
    HEED_CHECK(name.size() < option.size(),
               "[attention] option \"{}\" of \"{}\": expected key=value", option, choice.name);
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string_view near = nearest(name, names);
    fail("[attention] \"{}\" has no option \"{}\": {}", choice.name, name,
         near.empty() ? fmt::format("its options are {}", fmt::join(names, ", "))
                      : fmt::format("did you mean \"{}\"?", near));
  }
}

}  // namespace

AttentionChoice parse_attention(std::string_view text) {
  std::vector<std::string> words = split_options(text);
  HEED_CHECK(!words.empty(),
             "[attention] no mechanism is named: give one, such as \"multi_head\"; `heed list` "
             "shows all");
  AttentionChoice choice{.name = words[0]};
  choice.options.assign(words.begin() + 1, words.end());
  choice.validate();
  check_option_names(choice);
  return choice;
}

PositionConfig parse_positions(std::string_view text) {
  const std::vector<std::string> words = split_options(text);
  PositionConfig position;
  if (words.empty()) return position;
  position.name = words[0];
  io::set_fields(position, std::span(words).subspan(1));
  find_position(position.name);
  return position;
}

AttentionChoice with_positions(AttentionChoice choice, const PositionConfig& position) {
  const PositionWay way = find_position(position.name).way;
  if (way == PositionWay::nowhere || way == PositionWay::embeddings) return choice;
  const std::vector<io::FieldInfo> known = find_mechanism(choice.name).options();
  HEED_CHECK(
      std::ranges::any_of(known, [](const auto& field) { return field.path == "position.name"; }),
      "[attention] \"{}\" takes no position code inside, and \"{}\" acts there: choose one that is "
      "added to embeddings, such as \"sinusoidal\"",
      choice.name, position.name);
  std::vector<std::string> options;
  for (const io::FieldInfo& field : io::list_fields(position)) {
    const bool quoted = field.value.size() >= 2 && field.value.front() == '"';
    const std::string value = quoted ? field.value.substr(1, field.value.size() - 2) : field.value;
    options.push_back("position." + field.path + "=" + value);
  }
  choice.options.insert(choice.options.begin(), options.begin(), options.end());
  return choice;
}

}  // namespace heed
