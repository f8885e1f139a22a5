// The values of chat templates: those of Python that a template can meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heed/io/value.h"

namespace heed::jinja {

struct Value;

/// A variable or member that does not exist.
struct Undefined {
  std::string name;
};
struct None {};
using List = std::vector<Value>;
/// Members in the order in which they were set. A namespace is a dict that `set` may change.
struct Dict {
  std::vector<std::pair<std::string, Value>> members;
  bool is_namespace = false;

  const Value* find(std::string_view key) const;
  void set(std::string_view key, Value value);
};

/// A value. Copies share texts, lists and dicts.
struct Value {
  using Text = std::shared_ptr<const std::string>;
  std::variant<Undefined, None, bool, std::int64_t, double, Text, std::shared_ptr<const List>,
               std::shared_ptr<Dict>>
      data = None{};

  Value() = default;
  Value(Undefined x) : data(std::move(x)) {}  // NOLINT(google-explicit-constructor)
  Value(bool x) : data(x) {}                  // NOLINT(google-explicit-constructor)
  Value(std::int64_t x) : data(x) {}          // NOLINT(google-explicit-constructor)
  Value(double x) : data(x) {}                // NOLINT(google-explicit-constructor)
  Value(std::string x) : data(std::make_shared<const std::string>(std::move(x))) {}  // NOLINT
  Value(List x) : data(std::make_shared<const List>(std::move(x))) {}                // NOLINT
  Value(Dict x) : data(std::make_shared<Dict>(std::move(x))) {}                      // NOLINT
  Value(const char*) = delete;  // would become a bool

  bool undefined() const { return std::holds_alternative<Undefined>(data); }
  bool none() const { return std::holds_alternative<None>(data); }
  const bool* boolean() const { return std::get_if<bool>(&data); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
  const double* real() const { return std::get_if<double>(&data); }
  const std::string* text() const;
  const List* list() const;
  const Dict* dict() const;
  Dict* mutable_dict() const;
  /// The number of an integer, bool or float.
  std::optional<double> number() const;
};

/// The same value, from JSON.
Value from_json(const io::Value& value);

/// "a string", "an undefined value", … for messages.
std::string_view describe(const Value& value);

/// As Python's bool(x), str(x), repr(x) and x == y.
bool truthy(const Value& value);
std::string to_text(const Value& value);
std::string to_repr(const Value& value);
bool equal(const Value& a, const Value& b);

/// As json.dumps(x, ensure_ascii=False, indent=…). Throws heed::Error for an undefined value.
std::string to_json(const Value& value, std::optional<int> indent);

}  // namespace heed::jinja
