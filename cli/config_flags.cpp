#include "cli/config_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>

#include "cli/find_option.h"

namespace heed::cli {
namespace {

// The value of an optional that is not set.
constexpr std::string_view kNoDefault = "\"none\"";

using Assign = std::function<void(const std::string& value)>;

std::string_view leaf_of(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string_view section_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == path.npos ? std::string_view() : path.substr(0, dot);
}

std::string flag_of(std::string_view path) {
  std::string name = fmt::format("--{}", path);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// --key, --key=true and --key=false, and --no-key; join_truth_values() makes --key=false of
// --key false. The last one on the command line counts.
void add_truth_flag(CLI::App& verb, const std::string& names, const io::FieldInfo& field,
                    const Assign& assign) {
  std::string all = names;
  for (std::size_t at = 0; (at = names.find("--", at)) != std::string::npos; at += 2) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    all += fmt::format(",!--no-{}", std::string_view(names).substr(at + 2, end - at - 2));
  }
  const bool is_unset = field.value == kNoDefault;
  verb.add_flag_function(
          all, [assign](std::int64_t count) { assign(count > 0 ? "true" : "false"); }, field.help)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check([](const std::string& value) {
        return value == "true" || value == "false" ? "" : "must be true or false, found " + value;
      })
      ->option_text(fmt::format("({}){}", field.type, is_unset ? "" : "=" + field.value));
}

void add_flag(CLI::App& verb, const std::string& name, const io::FieldInfo& field,
              const Assign& assign) {
  if (field.type == "true|false") return add_truth_flag(verb, name, field, assign);
  const bool is_list = field.value.starts_with('[');
  CLI::Option* const option = is_list
                                  ? verb.add_option_function<std::vector<std::string>>(
                                        name,
                                        [assign](const std::vector<std::string>& values) {
                                          assign(fmt::format("{}", fmt::join(values, ",")));
                                        },
                                        field.help)
                                  : verb.add_option_function<std::string>(name, assign, field.help);
  const bool is_unset = field.value == kNoDefault || field.value == "[]";
  option->type_name(fmt::format("({})", field.type))->default_str(is_unset ? "" : field.value);
}

}  // namespace

void add_config_flags(CLI::App& verb, const std::vector<io::FieldInfo>& fields,
                      std::vector<std::string>& assignments) {
  std::map<std::string_view, int> uses;
  for (const io::FieldInfo& field : fields) ++uses[leaf_of(field.path)];
  for (const io::FieldInfo& field : fields) {
    std::string names = flag_of(field.path);
    // The short name, if no other key or flag of the verb has it.
    const std::string short_name = flag_of(leaf_of(field.path));
    if (short_name != names && uses[leaf_of(field.path)] == 1 &&
        find_option(verb, short_name) == nullptr) {
      names += "," + short_name;
    }
    add_flag(verb, names, field, [&assignments, path = field.path](const std::string& value) {
      assignments.push_back(fmt::format("{}={}", path, value));
    });
  }
}

void add_section_flags(CLI::App& verb, const std::vector<io::FieldInfo>& fields,
                       std::span<const std::string_view> sections,
                       std::vector<std::string>& assignments) {
  // For each name, the fields of these sections; and the number of fields of any section with this
  // name.
  std::map<std::string_view, std::vector<const io::FieldInfo*>> found;
  std::map<std::string_view, std::size_t> uses;
  for (const io::FieldInfo& field : fields) {
    ++uses[leaf_of(field.path)];
    if (std::ranges::find(sections, section_of(field.path)) != sections.end()) {
      found[leaf_of(field.path)].push_back(&field);
    }
  }
  for (const auto& [leaf, same] : found) {
    const bool is_section = std::ranges::any_of(
        fields, [&, prefix = std::string(leaf) + "."](const io::FieldInfo& other) {
          return other.path.starts_with(prefix);
        });
    if (same.size() < 2 || uses[leaf] > same.size() || is_section) continue;
    io::FieldInfo field = *same.front();
    field.value = kNoDefault;  // each section has its own default
    field.help = "";
    for (const io::FieldInfo* const one : same) {
      field.help += (field.help.empty() ? "as " : ", ") + flag_of(one->path);
      if (one->type != field.type) field.type = "as there";
    }
    add_flag(verb, flag_of(leaf), field,
             [&assignments, leaf = std::string(leaf)](const std::string& value) {
               assignments.push_back(fmt::format("{}={}", leaf, value));
             });
  }
}

std::vector<std::string> join_truth_values(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  bool is_after_mark = false;  // "--": no flags follow
  for (const std::string& word : words) {
    const bool is_value = word == "true" || word == "false";
    const bool is_after_flag = !joined.empty() && joined.back().starts_with("--") &&
                               joined.back().find('=') == std::string::npos;
    if (is_value && is_after_flag && !is_after_mark) {
      joined.back() += "=" + word;
    } else {
      joined.push_back(word);
    }
    is_after_mark = is_after_mark || word == "--";
  }
  return joined;
}

}  // namespace heed::cli
