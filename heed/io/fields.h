// The field visitor of configs. A config is a plain struct that names its members once:
//
//   struct TrainConfig {
//     double learning_rate = 3e-4;
//     int updates = 1000;
//     AdamConfig adam;  // a struct of the same kind: a section
//
//     void fields(io::Fields& field) {
//       field("learning_rate", learning_rate, "peak learning rate", {.min = 0});
//       field("updates", updates, "number of updates", {.min = 1});
//       field("adam", adam, "the optimiser");
//     }
//     void validate() const; // optional: throws heed::Error if members contradict each other
//   };
//
// heed/io/config.h derives files, flags and help from it. Members may be bool, integers, float,
// double, std::string, enums with a list of names, std::optional and std::vector of those, and
// sections. The template only binds a member to a Codec, a table of four functions; the other
// functions are not templates.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/codec.h"
#include "heed/io/value.h"

namespace heed::io {

class Fields;

/// A struct whose members are fields.
template <typename T>
concept Section = requires(T& config, Fields& fields) {
  config.fields(fields);
};

/// One field for help and listings.
struct FieldInfo {
  std::string path;   ///< "adam.beta1"
  std::string type;   ///< "number, from 0 to 1"
  std::string value;  ///< As in TOML; the default if the config is unchanged.
  std::string help;
};

/// The bound members of one config, valid during the lifetime of the config. The config's `fields`
/// function fills it.
class Fields {
 public:
  /// Binds the members of a config.
  template <Section C>
  explicit Fields(C& config) {
    config.fields(*this);
    if constexpr (requires { config.validate(); }) {
      config_ = &config;
      validate_ = [](const void* c) { static_cast<const C*>(c)->validate(); };
    }
  }

  /// Binds one member; called by the config's `fields`.
  template <typename T>
  void operator()(std::string_view key, T& member, std::string_view help, Limits limits = {}) {
    if constexpr (Section<T>) {
      add({key, help, limits, nullptr, nullptr, std::make_unique<Fields>(member)});
    } else {
      add({key, help, limits, &member, &detail::kCodec<T>, nullptr});
    }
  }

  /// Sets the members that a table names; an unknown key or a wrong value throws and may leave some
  /// members changed (config.h works on a copy).
  void read(const Value& value, std::string_view source) { read(value, source, ""); }
  /// Sets one member from "path=value".
  void set(std::string_view assignment);
  /// Throws heed::Error if a number that has limits is outside them, or not finite; `source` names
  /// the config in the message. For configs that were not read from a text.
  void check_limits(std::string_view source) { check_limits(source, ""); }
  /// Calls validate() of each section that has one, inner sections first, and adds the source to
  /// its errors.
  void validate(std::string_view source) const;
  /// All members as a table.
  Value write() const { return write(""); }
  /// All members as TOML with their help as comments.
  std::string write_toml() const { return write_toml(""); }
  /// All members but the sections themselves, in order.
  std::vector<FieldInfo> list() const { return list(""); }

 private:
  struct Field {
    std::string_view key;
    std::string_view help;
    Limits limits;
    void* member;                   // null for a section
    const detail::AnyCodec* codec;  // null for a section
    std::unique_ptr<Fields> section;
  };

  void add(Field field);
  void read(const Value& value, std::string_view source, const std::string& prefix);
  void check_limits(std::string_view source, const std::string& prefix);
  Value write(const std::string& prefix) const;
  static Value write(const Field& field, const std::string& path);
  std::string write_toml(const std::string& prefix) const;
  std::vector<std::string> paths(const std::string& prefix) const;
  std::vector<FieldInfo> list(const std::string& prefix) const;
  const Field* find(std::string_view key) const;
  [[noreturn]] void fail_unknown(std::string_view prefix, std::string_view key,
                                 const std::string& place) const;

  std::vector<Field> fields_;
  const void* config_ = nullptr;
  void (*validate_)(const void*) = nullptr;
};

}  // namespace heed::io
