// Reads configs from files and flags, writes them, and lists their fields for help. fields.h
// defines what a config is. Every change is all or nothing: the struct is changed only if the whole
// text is valid and validate() succeeds.
//
//   TrainConfig config;                                  // the defaults
//   io::load_config("train.toml", config);               // or .json
//   io::set_fields(config, {"adam.beta1=0.9", "updates=500"});
//   io::save_config("used.toml", config);
#pragma once

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/io/fields.h"

namespace heed::io {

namespace detail {

template <Section C, typename Edit>
void update(C& config, std::string_view source, Edit edit) {
  C changed = config;
  Fields fields(changed);
  edit(fields);
  fields.validate(source);
  config = std::move(changed);
}

enum class ConfigFormat { toml, json };
ConfigFormat format_of(const std::filesystem::path& path);
Value parse_config(std::string_view text, std::string_view source, ConfigFormat format);
Value read_config(const std::filesystem::path& path);
std::string config_text(const Fields& fields, ConfigFormat format);
void write_config(const std::filesystem::path& path, const Fields& fields);

}  // namespace detail

/// Sets the members that a TOML text names; `source` names the text in messages.
template <Section C>
void load_toml(std::string_view text, C& config, std::string_view source = "TOML") {
  detail::update(config, source, [&](Fields& fields) {
    fields.read(detail::parse_config(text, source, detail::ConfigFormat::toml), source);
  });
}

/// Sets the members that a JSON text names; `source` names the text in messages.
template <Section C>
void load_json(std::string_view text, C& config, std::string_view source = "JSON") {
  detail::update(config, source, [&](Fields& fields) {
    fields.read(detail::parse_config(text, source, detail::ConfigFormat::json), source);
  });
}

/// Sets the members that a .toml or .json file names.
template <Section C>
void load_config(const std::filesystem::path& path, C& config) {
  const std::string source = path.string();
  detail::update(config, source,
                 [&](Fields& fields) { fields.read(detail::read_config(path), source); });
}

/// Sets members from "path=value" texts, in order. Strings are not quoted, lists are "1,2" or "[1,
/// 2]", and "none" unsets an optional. A '-' in a path counts as '_'.
template <Section C>
void set_fields(C& config, std::span<const std::string> assignments) {
  detail::update(config, "flags", [&](Fields& fields) {
    for (const std::string& assignment : assignments) fields.set(assignment);
  });
}
template <Section C>
void set_fields(C& config, std::initializer_list<std::string> assignments) {
  set_fields(config, std::span(assignments.begin(), assignments.size()));
}

/// Throws heed::Error if a number of the config is outside its limits, which reading a config from
/// a text checks too; `source` names the config in the message.
template <Section C>
void check_limits(C config, std::string_view source) {
  Fields(config).check_limits(source);
}

/// The config as TOML, each member with its help as a comment.
template <Section C>
std::string to_toml(C config) {
  return detail::config_text(Fields(config), detail::ConfigFormat::toml);
}

/// The config as indented JSON.
template <Section C>
std::string to_json(C config) {
  return detail::config_text(Fields(config), detail::ConfigFormat::json);
}

/// Writes the config to a file that ends in .toml or .json, atomically.
template <Section C>
void save_config(const std::filesystem::path& path, C config) {
  detail::write_config(path, Fields(config));
}

/// Path, type, value and help of every member. For a default config this is the content of --help.
template <Section C>
std::vector<FieldInfo> list_fields(C config) {
  return Fields(config).list();
}

}  // namespace heed::io
