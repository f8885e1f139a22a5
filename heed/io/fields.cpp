// Reading a table into the bound members, setting one, writing and listing all.
#include "heed/io/fields.h"

#include <algorithm>

#include "heed/base/suggest.h"
#include "heed/io/toml.h"

namespace heed::io {
namespace {

bool is_bare_key(std::string_view key) {
  return !key.empty() &&
         key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

}  // namespace

void Fields::add(Field field) {
  HEED_ASSERT(is_bare_key(field.key));
  HEED_ASSERT(find(field.key) == nullptr);
  HEED_ASSERT(field.help.find('\n') == std::string_view::npos);  // it becomes a comment
  HEED_ASSERT(!field.section || !field.section->fields_.empty());
  fields_.push_back(std::move(field));
}

const Fields::Field* Fields::find(std::string_view key) const {
  const auto it = std::find_if(fields_.begin(), fields_.end(),
                               [&](const Field& field) { return field.key == key; });
  return it == fields_.end() ? nullptr : &*it;
}

void Fields::fail_unknown(std::string_view prefix, std::string_view key,
                          const std::string& place) const {
  std::vector<std::string_view> keys;
  for (const Field& field : fields_) keys.push_back(field.key);
  std::string guess(nearest(key, keys));
  // The right key in the wrong section is as likely as a typing error.
  for (const std::string& path : paths("")) {
    if (path.ends_with(fmt::format(".{}", key))) guess = path;
  }
  fail("[config] {}: unknown key {}: {}", place, in_quotes(fmt::format("{}{}", prefix, key)),
       guess.empty() ? fmt::format("the keys here are {}", fmt::join(keys, ", "))
                     : fmt::format("did you mean \"{}{}\"?", prefix, guess));
}

void Fields::read(const Value& value, std::string_view source, const std::string& prefix) {
  const std::string place = to_string(source, value.position);
  const std::string_view name =
      prefix.empty() ? "a config" : std::string_view(prefix).substr(0, prefix.size() - 1);
  HEED_CHECK(value.table(), "[config] {}: {} must be a table, found {}", place, name,
             describe(value));
  for (const Member& member : *value.table()) {
    const Field* field = find(member.key);
    if (!field) fail_unknown(prefix, member.key, to_string(source, member.value.position));
    const std::string path = prefix + member.key;
    if (field->section) {
      field->section->read(member.value, source, path + ".");
    } else {
      field->codec->read(field->member, member.value, {source, path, field->limits});
    }
  }
}

void Fields::set(std::string_view assignment) {
  const std::string place = in_quotes(assignment);
  const std::size_t equals = assignment.find('=');
  HEED_CHECK(equals != std::string_view::npos, "[config] {}: expected key=value", place);
  std::string path(assignment.substr(0, equals));
  std::replace(path.begin(), path.end(), '-', '_');  // flags are spelt --learning-rate
  const std::string_view text = assignment.substr(equals + 1);

  const Fields* here = this;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    const Field* field = here->find(key);
    if (!field) here->fail_unknown(path.substr(0, begin), key, place);
    const bool last = end == path.size();
    HEED_CHECK(last || field->section, "[config] {}: {} is not a section", place,
               path.substr(0, end));
    HEED_CHECK(!last || !field->section,
               "[config] {}: {} is a section: set its members, such as {}.{}", place, path, path,
               field->section ? field->section->fields_[0].key : "");
    if (last) {
      return field->codec->read(field->member, field->codec->parse(text),
                                {place, path, field->limits});
    }
    here = field->section.get();
    begin = end + 1;
  }
}

void Fields::check_limits(std::string_view source, const std::string& prefix) {
  for (const Field& field : fields_) {
    const std::string path = fmt::format("{}{}", prefix, field.key);
    if (field.section) field.section->check_limits(source, path + ".");
    if (field.section || detail::limits_text(field.limits).empty()) continue;
    const auto written = [&]() -> Value {
      try {
        return field.codec->write(field.member);
      } catch (const Error&) {
        fail("[config] {}: {} is not a finite number: it must be {}", source, path,
             detail::limits_text(field.limits));
      }
    };
    field.codec->read(field.member, written(), {source, path, field.limits});
  }
}

void Fields::validate(std::string_view source) const {
  for (const Field& field : fields_) {
    if (field.section) field.section->validate(source);
  }
  if (!validate_) return;
  try {
    validate_(config_);
  } catch (const Error& e) {
    fail("[config] {}: {}", source, e.what());
  }
}

Value Fields::write(const Field& field, const std::string& path) {
  if (field.section) return field.section->write(path + ".");
  try {
    return field.codec->write(field.member);
  } catch (const Error& e) {
    fail("[config] {}: {}", path, e.what());
  }
}

Value Fields::write(const std::string& prefix) const {
  Value::Table table;
  for (const Field& field : fields_) {
    Value value = write(field, fmt::format("{}{}", prefix, field.key));
    table.push_back({std::string(field.key), std::move(value)});
  }
  return {std::move(table)};
}

std::string Fields::write_toml(const std::string& prefix) const {
  std::string text;
  for (const Field& field : fields_) {  // TOML requires a table's own keys before its sections
    if (field.section) continue;
    const Value value = write(field, fmt::format("{}{}", prefix, field.key));
    text += fmt::format("{} = {}", field.key, toml_text(value));
    text += field.help.empty() ? "\n" : fmt::format("  # {}\n", field.help);
  }
  for (const Field& field : fields_) {
    if (!field.section) continue;
    const std::string path = fmt::format("{}{}", prefix, field.key);
    text += fmt::format("\n[{}]{}\n", path,
                        field.help.empty() ? "" : fmt::format("  # {}", field.help));
    text += field.section->write_toml(path + ".");
  }
  return text;
}

std::vector<FieldInfo> Fields::list(const std::string& prefix) const {
  std::vector<FieldInfo> all;
  for (const Field& field : fields_) {
    const std::string path = fmt::format("{}{}", prefix, field.key);
    if (field.section) {
      for (FieldInfo& inner : field.section->list(path + ".")) all.push_back(std::move(inner));
    } else {
      const std::string limits = detail::limits_text(field.limits);
      const std::string type = field.codec->type_name() + (limits.empty() ? "" : ", " + limits);
      all.push_back({path, type, toml_text(write(field, path)), std::string(field.help)});
    }
  }
  return all;
}

std::vector<std::string> Fields::paths(const std::string& prefix) const {
  std::vector<std::string> all;
  for (const Field& field : fields_) {
    all.push_back(fmt::format("{}{}", prefix, field.key));
    if (!field.section) continue;
    for (std::string& inner : field.section->paths(all.back() + ".")) {
      all.push_back(std::move(inner));
    }
  }
  return all;
}

}  // namespace heed::io
