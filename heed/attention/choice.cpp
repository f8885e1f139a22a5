#include "heed/attention/choice.h"

#include <algorithm>
#include <span>

#include "heed/attention/registry.h"
#include "heed/base/error.h"
#include "heed/base/suggest.h"

namespace heed {
namespace {

// "left" of "left=8"; flags may be spelt with '-'.
std::string option_name(const std::string& option, std::string_view mechanism) {
  const std::size_t equals = option.find('=');
  HEED_CHECK(equals != std::string::npos, "[attention] option \"{}\" of \"{}\": expected key=value",
             option, mechanism);
  std::string name = option.substr(0, equals);
  std::ranges::replace(name, '-', '_');
  return name;
}

void check_known(const std::string& name, const Mechanism& mechanism,
                 std::span<const io::FieldInfo> options) {
  std::vector<std::string_view> names;
  for (const io::FieldInfo& field : options) names.push_back(field.path);
  if (std::ranges::find(names, name) != names.end()) return;
  const std::string_view near = nearest(name, names);
  fail("[attention] \"{}\" has no option \"{}\": {}", mechanism.name, name,
       near.empty() ? fmt::format("its options are {}", fmt::join(names, ", "))
                    : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace

std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// ---- mechanisms ---------------------------------------------------------------------------------

AttentionChoice::AttentionChoice() {
  static const AttentionChoice multi_head("multi_head");
  *this = multi_head;
}

AttentionChoice::AttentionChoice(std::string_view text) : text_(text) {
  const std::vector<std::string> words = split_options(text);
  HEED_CHECK(!words.empty(),
             "[attention] no mechanism is named: give one, such as \"multi_head\"; `heed list` "
             "shows all");
  mechanism_ = &find_mechanism(words[0]);
  std::unique_ptr<MechanismConfig> config = mechanism_->config();
  const std::vector<io::FieldInfo> known = config->options();
  for (const std::string& option : std::span(words).subspan(1)) {
    const std::string name = option_name(option, mechanism_->name);
    check_known(name, *mechanism_, known);
    config->set(option);
    own_.push_back(name);
    if (name.starts_with("position.")) own_.emplace_back("position");
  }
  config_ = std::move(config);
}

bool AttentionChoice::takes(std::string_view option) const {
  const std::vector<io::FieldInfo> known = config_->options();
  return std::ranges::any_of(known, [&](const io::FieldInfo& field) {
    return field.path == option || field.path.starts_with(fmt::format("{}.", option));
  });
}

bool AttentionChoice::sets(std::string_view option) const {
  return std::ranges::find(own_, option) != own_.end();
}

AttentionChoice AttentionChoice::within(const BlockOptions& block) const {
  HEED_CHECK(!block.position || takes("position"),
             "[attention] \"{}\" takes no position code inside, and \"{}\" acts there: choose one "
             "that is added to embeddings, such as \"sinusoidal\"",
             mechanism_->name, block.position->name);
  AttentionChoice choice = *this;
  std::unique_ptr<MechanismConfig> config = config_->clone();
  config->inherit(block, own_);
  choice.config_ = std::move(config);
  return choice;
}

// ---- positions ----------------------------------------------------------------------------------

PositionChoice::PositionChoice(std::string_view text) : text_(text) {
  const std::vector<std::string> words = split_options(text);
  if (words.empty()) return;
  config_.name = words[0];
  io::set_fields(config_, std::span(words).subspan(1));
  find_position(config_.name);  // or it is an error
}

bool PositionChoice::acts_in_attention() const {
  const PositionWay way = find_position(config_.name).way;
  return way == PositionWay::heads || way == PositionWay::scores;
}

}  // namespace heed
