// The description at /openapi.json.
#include <algorithm>
#include <charconv>
#include <map>

#include "heed/base/version.h"
#include "heed/io/json.h"
#include "heed/serve/service.h"

namespace heed::serve {
namespace {

using io::Value;

Value text_of(std::string_view text) { return {std::string(text)}; }

Value string_or_list() {
  return {Value::Table{
      {"oneOf",
       {Value::List{{Value::Table{{"type", text_of("string")}}},
                    {Value::Table{{"type", text_of("array")},
                                  {"items", {Value::Table{{"type", text_of("string")}}}}}}}}}}};
}

Value message_list() {
  const Value text{Value::Table{{"type", text_of("string")}}};
  return {Value::Table{
      {"type", text_of("array")},
      {"items",
       {Value::Table{{"type", text_of("object")},
                     {"required", {Value::List{text_of("role"), text_of("content")}}},
                     {"properties", {Value::Table{{"role", text}, {"content", text}}}}}}}}};
}

// Adds the limits of a number as help names them: "at least 1", "at most 2" or "from 0 to 1".
void add_limits(Value::Table& schema, std::string_view text) {
  const auto add = [&](std::string_view key, std::string_view number) {
    double value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    schema.push_back({std::string(key), {value}});
  };
  constexpr std::string_view kLeast = "at least ", kMost = "at most ", kFrom = "from ",
                             kTo = " to ";
  if (text.starts_with(kLeast)) add("minimum", text.substr(kLeast.size()));
  if (text.starts_with(kMost)) add("maximum", text.substr(kMost.size()));
  if (!text.starts_with(kFrom)) return;
  const std::size_t to = text.find(kTo);
  add("minimum", text.substr(kFrom.size(), to - kFrom.size()));
  add("maximum", text.substr(to + kTo.size()));
}

// The schema of a type as help names it: "integer", "list of string", "text|html", … or none.
Value schema_of(std::string_view type, std::string_view limits) {
  constexpr std::string_view kOptional = " or none", kList = "list of ";
  if (type == "string or list of string") return string_or_list();
  if (type == "list of messages") return message_list();
  if (type.ends_with(kOptional)) {
    Value value = schema_of(type.substr(0, type.size() - kOptional.size()), limits);
    std::get<Value::Table>(value.data).push_back({"nullable", {true}});
    return value;
  }
  if (type.starts_with(kList)) {
    return {Value::Table{{"type", text_of("array")},
                         {"items", schema_of(type.substr(kList.size()), limits)}}};
  }
  Value::Table schema;
  if (type == "integer" || type == "number" || type == "string") {
    schema.push_back({"type", text_of(type)});
  } else if (type == "true|false") {
    schema.push_back({"type", text_of("boolean")});
  } else {
    Value::List names;
    for (std::string_view rest = type; !rest.empty();) {
      const std::size_t end = std::min(rest.find('|'), rest.size());
      names.push_back(text_of(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    schema.push_back({"type", text_of("string")});
    schema.push_back({"enum", {std::move(names)}});
  }
  add_limits(schema, limits);
  return {std::move(schema)};
}

// An object whose members are fields; "a.b" is the member b of the object a.
Value object_of(const std::vector<io::FieldInfo>& fields) {
  Value::Table properties;
  std::vector<std::pair<std::string, std::vector<io::FieldInfo>>> sections;
  for (const io::FieldInfo& field : fields) {
    const std::size_t dot = field.path.find('.');
    if (dot == std::string::npos) {
      const std::string_view type = field.type;
      const std::size_t comma = std::min(type.find(", "), type.size());
      Value schema =
          schema_of(type.substr(0, comma), type.substr(std::min(comma + 2, type.size())));
      std::get<Value::Table>(schema.data).push_back({"description", {field.help}});
      properties.push_back({field.path, std::move(schema)});
      continue;
    }
    io::FieldInfo inner = field;
    inner.path = field.path.substr(dot + 1);
    const std::string name = field.path.substr(0, dot);
    if (sections.empty() || sections.back().first != name) sections.push_back({name, {}});
    sections.back().second.push_back(std::move(inner));
  }
  for (const auto& [name, inner] : sections) properties.push_back({name, object_of(inner)});
  return {Value::Table{{"type", text_of("object")}, {"properties", {std::move(properties)}}}};
}

Value operation_of(const Service::Route& route) {
  Value::Table operation{{"summary", text_of(route.summary)}};
  if (route.body != nullptr) {
    operation.push_back(
        {"requestBody",
         {Value::Table{{"required", {true}},
                       {"content",
                        {Value::Table{{"application/json",
                                       {Value::Table{{"schema", object_of(route.body())}}}}}}}}}});
  }
  Value::Table responses{{"200", {Value::Table{{"description", text_of("The answer")}}}}};
  if (route.computes) {
    for (const auto& [status, meaning] :
         std::map<std::string, std::string>{{"400", "A mistake in the request"},
                                            {"401", "No valid key"},
                                            {"413", "The body is too large"},
                                            {"429", "Too many requests; see Retry-After"},
                                            {"503", "Too much to do; see Retry-After"}}) {
      responses.push_back({status, {Value::Table{{"description", {meaning}}}}});
    }
  }
  operation.push_back({"responses", {std::move(responses)}});
  if (route.needs_key) {
    operation.push_back({"security", {Value::List{{Value::Table{{"key", {Value::List{}}}}}}}});
  }
  return {std::move(operation)};
}

std::string describe_all() {
  Value::Table paths;
  for (const Service::Route& route : Service::routes()) {
    paths.push_back(
        {std::string(route.path),
         {Value::Table{{route.method == "GET" ? "get" : "post", operation_of(route)}}}});
  }
  const Value bearer{Value::Table{{"type", text_of("http")}, {"scheme", text_of("bearer")}}};
  return io::write_json(
      {Value::Table{
          {"openapi", text_of("3.0.3")},
          {"info", {Value::Table{{"title", text_of("heed")}, {"version", text_of(version())}}}},
          {"paths", {std::move(paths)}},
          {"components", {Value::Table{{"securitySchemes", {Value::Table{{"key", bearer}}}}}}}}},
      true);
}

}  // namespace

const std::string& openapi_json() {
  static const std::string text = describe_all();
  return text;
}

}  // namespace heed::serve
