#include "cli/config_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>

namespace heed::cli {
namespace {

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

void add_flag(CLI::App& verb, const std::string& name, const io::FieldInfo& field,
              const Assign& assign) {
  if (field.type == "true|false") {
    verb.add_flag_function(
        name, [assign](std::int64_t count) { assign(count > 0 ? "true" : "false"); }, field.help);
    return;
  }
  const bool is_list = field.value.starts_with('[');
  CLI::Option* const option = is_list
                                  ? verb.add_option_function<std::vector<std::string>>(
                                        name,
                                        [assign](const std::vector<std::string>& values) {
                                          assign(fmt::format("{}", fmt::join(values, ",")));
                                        },
                                        field.help)
                                  : verb.add_option_function<std::string>(name, assign, field.help);
  const bool is_unset = field.value == "\"none\"" || field.value == "[]";
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
        verb.get_option_no_throw(short_name) == nullptr) {
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
    field.value = "\"none\"";  // each section has its own default
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

}  // namespace heed::cli
