#include "heed/text/jinja/value.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"

namespace heed::jinja {
namespace {

// As Python's repr of a float: always with a point or an exponent.
std::string float_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", x);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string python_quotes(std::string_view text) {
  const bool doubled = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = doubled ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string json_number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x < 0 ? "-Infinity" : "Infinity";
  return float_text(x);
}

void write_json(std::string& out, const Value& value, std::optional<int> indent, int level) {
  const auto line = [&](int depth) {
    if (indent) out.append("\n").append(static_cast<std::size_t>(*indent * depth), ' ');
  };
  const char* const separator = indent ? "," : ", ";
  if (const List* list = value.list()) {
    out += '[';
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (i > 0) out += separator;
      line(level + 1);
      write_json(out, (*list)[i], indent, level + 1);
    }
    if (!list->empty()) line(level);
    out += ']';
  } else if (const Dict* dict = value.dict()) {
    out += '{';
    for (std::size_t i = 0; i < dict->members.size(); ++i) {
      if (i > 0) out += separator;
      line(level + 1);
      out += json_string(dict->members[i].first) + ": ";
      write_json(out, dict->members[i].second, indent, level + 1);
    }
    if (!dict->members.empty()) line(level);
    out += '}';
  } else if (const std::string* text = value.text()) {
    out += json_string(*text);
  } else if (const bool* flag = value.boolean()) {
    out += *flag ? "true" : "false";
  } else if (const std::int64_t* n = value.integer()) {
    out += fmt::format("{}", *n);
  } else if (const double* x = value.real()) {
    out += json_number(*x);
  } else {
    HEED_CHECK(value.none(), "an undefined value cannot become JSON");
    out += "null";
  }
}

}  // namespace

const Value* Dict::find(std::string_view key) const {
  const auto it = std::find_if(members.begin(), members.end(),
                               [&](const auto& member) { return member.first == key; });
  return it == members.end() ? nullptr : &it->second;
}

void Dict::set(std::string_view key, Value value) {
  const auto it = std::find_if(members.begin(), members.end(),
                               [&](const auto& member) { return member.first == key; });
  if (it == members.end()) {
    members.emplace_back(key, std::move(value));
  } else {
    it->second = std::move(value);
  }
}

const std::string* Value::text() const {
  const auto* held = std::get_if<Text>(&data);
  return held ? held->get() : nullptr;
}

const List* Value::list() const {
  const auto* held = std::get_if<std::shared_ptr<const List>>(&data);
  return held ? held->get() : nullptr;
}

const Dict* Value::dict() const { return mutable_dict(); }

Dict* Value::mutable_dict() const {
  const auto* held = std::get_if<std::shared_ptr<Dict>>(&data);
  return held ? held->get() : nullptr;
}

std::optional<double> Value::number() const {
  if (const bool* flag = boolean()) return *flag ? 1.0 : 0.0;
  if (const std::int64_t* n = integer()) return static_cast<double>(*n);
  if (const double* x = real()) return *x;
  return std::nullopt;
}

Value from_json(const io::Value& value) {
  if (const bool* flag = value.boolean()) return *flag;
  if (const std::int64_t* n = value.integer()) return *n;
  if (const double* x = value.floating()) return *x;
  if (const std::string* text = value.string()) return *text;
  if (const io::Value::List* list = value.list()) {
    List items;
    for (const io::Value& item : *list) items.push_back(from_json(item));
    return items;
  }
  if (const io::Value::Table* table = value.table()) {
    Dict dict;
    for (const io::Member& member : *table) {
      dict.members.emplace_back(member.key, from_json(member.value));
    }
    return dict;
  }
  return {};
}

std::string_view describe(const Value& value) {
  constexpr std::string_view kWords[] = {
      "an undefined value", "none",   "a boolean", "an integer", "a float",
      "a string",           "a list", "a dict"};
  return kWords[value.data.index()];
}

bool truthy(const Value& value) {
  if (const auto number = value.number()) return *number != 0;
  if (const std::string* text = value.text()) return !text->empty();
  if (const List* list = value.list()) return !list->empty();
  if (const Dict* dict = value.dict()) return dict->is_namespace || !dict->members.empty();
  return false;
}

std::string to_text(const Value& value) {
  if (value.undefined()) return "";
  if (const std::string* text = value.text()) return *text;
  return to_repr(value);
}

std::string to_repr(const Value& value) {
  if (value.undefined()) return "Undefined";
  if (value.none()) return "None";
  if (const bool* flag = value.boolean()) return *flag ? "True" : "False";
  if (const std::int64_t* n = value.integer()) return fmt::format("{}", *n);
  if (const double* x = value.real()) return float_text(*x);
  if (const std::string* text = value.text()) return python_quotes(*text);
  std::string out;
  if (const List* list = value.list()) {
    for (const Value& item : *list) out.append(out.empty() ? "" : ", ").append(to_repr(item));
    return "[" + out + "]";
  }
  for (const auto& [key, member] : value.dict()->members) {
    out.append(out.empty() ? "" : ", ")
        .append(python_quotes(key))
        .append(": ")
        .append(to_repr(member));
  }
  return "{" + out + "}";
}

bool equal(const Value& a, const Value& b) {
  const auto x = a.number(), y = b.number();
  if (a.integer() && b.integer()) return *a.integer() == *b.integer();
  if (x || y) return x && y && *x == *y;
  if (a.data.index() != b.data.index()) return false;
  if (a.text()) return *a.text() == *b.text();
  if (a.list()) {
    return std::equal(a.list()->begin(), a.list()->end(), b.list()->begin(), b.list()->end(),
                      equal);
  }
  if (!a.dict()) return true;  // none, undefined
  if (a.dict()->members.size() != b.dict()->members.size()) return false;
  return std::all_of(a.dict()->members.begin(), a.dict()->members.end(), [&](const auto& member) {
    const Value* other = b.dict()->find(member.first);
    return other && equal(member.second, *other);
  });
}

std::string to_json(const Value& value, std::optional<int> indent) {
  std::string out;
  write_json(out, value, indent, 0);
  return out;
}

}  // namespace heed::jinja
