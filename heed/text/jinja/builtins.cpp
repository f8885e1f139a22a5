#include "heed/text/jinja/builtins.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "heed/base/error.h"
#include "heed/base/suggest.h"
#include "heed/io/value.h"
#include "heed/text/unicode.h"

namespace heed::jinja {
namespace {

const std::string& need_text(const Value& value, std::string_view what) {
  HEED_CHECK(value.text(), "{} needs a string, found {}", what, describe(value));
  return *value.text();
}

std::int64_t need_integer(const Value& value, std::string_view what) {
  HEED_CHECK(value.integer(), "{} needs an integer, found {}", what, describe(value));
  return *value.integer();
}

// Case mapping is known for ASCII and for scripts without case.
void require_caseless(std::string_view text, std::string_view what) {
  for (const char32_t c : unicode::decode(text)) {
    const bool caseless = c < 0x80 || (c >= 0x3000 && c < 0xa640) || (c >= 0xac00 && c < 0xfb00) ||
                          !unicode::is_letter(c);
    HEED_CHECK(caseless, "{} is supported for ASCII letters only", what);
  }
}

std::string upper(std::string_view text) {
  require_caseless(text, "upper");
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return out;
}

// The first letter of each word (or of the text) in upper case, the others in lower case.
std::string title(std::string_view text, bool every_word) {
  require_caseless(text, every_word ? "title" : "capitalize");
  std::string out = unicode::lower(text);
  bool start = true;
  for (char& c : out) {
    const bool is_letter = c >= 'a' && c <= 'z';
    if (start && is_letter) c = static_cast<char>(c - 32);
    start = every_word && !is_letter;
  }
  return out;
}

// Removes the characters of a set, or white space, from the ends.
std::string strip(std::string_view text, const Value* set, bool left, bool right) {
  const std::u32string characters =
      set && !set->none() ? unicode::decode(need_text(*set, "strip")) : std::u32string();
  const bool spaces = !set || set->none();
  const auto drop = [&](std::string_view c) {
    const char32_t code = unicode::front(c).value;
    return spaces ? unicode::is_space(code) : characters.find(code) != characters.npos;
  };
  const std::vector<std::string_view> pieces = unicode::split(text);
  std::size_t begin = 0, end = pieces.size();
  while (left && begin < end && drop(pieces[begin])) ++begin;
  while (right && end > begin && drop(pieces[end - 1])) --end;
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out += pieces[i];
  return out;
}

Value split(std::string_view text, const Value* separator, const Value* limit) {
  List parts;
  const std::int64_t most = limit ? need_integer(*limit, "split") : -1;
  if (!separator || separator->none()) {
    HEED_CHECK(most < 0, "split with a limit needs a separator");
    for (const std::string_view word : unicode::split_words(text)) {
      parts.emplace_back(std::string(word));
    }
    return parts;
  }
  const std::string& by = need_text(*separator, "split");
  HEED_CHECK(!by.empty(), "split needs a separator that is not empty");
  while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
    const std::size_t at = text.find(by);
    if (at == text.npos) break;
    parts.emplace_back(std::string(text.substr(0, at)));
    text.remove_prefix(at + by.size());
  }
  parts.emplace_back(std::string(text));
  return parts;
}

std::string replace(std::string_view text, const Arguments& arguments) {
  const Value* from = arguments.find(0, "old");
  const Value* to = arguments.find(1, "new");
  HEED_CHECK(from && to && arguments.size() == 2, "replace needs two arguments, found {}",
             arguments.size());
  const std::string& old = need_text(*from, "replace");
  const std::string& with = need_text(*to, "replace");
  HEED_CHECK(!old.empty(), "replace needs a text that is not empty");
  std::string out;
  for (std::size_t at = text.find(old); at != text.npos; at = text.find(old)) {
    out.append(text.substr(0, at)).append(with);
    text.remove_prefix(at + old.size());
    HEED_CHECK(out.size() <= std::size_t{1} << 26, "replace makes a text of more than 64 MB");
  }
  return out.append(text);
}

// startswith and endswith; a list gives several candidates.
bool has_affix(const std::string& text, const Arguments& arguments, bool start) {
  const Value* affix = arguments.find(0, "prefix");
  HEED_CHECK(affix && arguments.size() == 1, "{} needs one argument",
             start ? "startswith" : "endswith");
  const auto matches = [&](const Value& candidate) {
    const std::string& part = need_text(candidate, start ? "startswith" : "endswith");
    return start ? text.starts_with(part) : text.ends_with(part);
  };
  if (const List* list = affix->list()) return std::any_of(list->begin(), list->end(), matches);
  return matches(*affix);
}

Value pairs_of(const Dict& dict) {
  List items;
  for (const auto& [key, value] : dict.members) items.emplace_back(List{Value(key), value});
  return items;
}

Value length_of(const Value& value) {
  if (const std::string* text = value.text()) {
    return static_cast<std::int64_t>(unicode::split(*text).size());
  }
  HEED_CHECK(value.list() || value.dict() || value.undefined(), "length of {} is not defined",
             describe(value));
  if (const Dict* dict = value.dict()) return static_cast<std::int64_t>(dict->members.size());
  return static_cast<std::int64_t>(elements_of(value).size());
}

Value join(const Value& value, const Arguments& arguments) {
  const Value* separator = arguments.find(0, "d");
  const std::string by = separator ? to_text(*separator) : "";
  const Value* attribute = arguments.find(1, "attribute");
  std::string out;
  bool first = true;
  for (const Value& item : elements_of(value)) {
    if (!first) out += by;
    out += to_text(attribute ? member_of(item, *attribute) : item);
    first = false;
    HEED_CHECK(out.size() <= std::size_t{1} << 26, "join makes a text of more than 64 MB");
  }
  return out;
}

Value default_for(const Value& value, const Arguments& arguments) {
  const Value* fallback = arguments.find(0, "default_value");
  const Value* also_false = arguments.find(1, "boolean");
  const bool missing = value.undefined() || (also_false && truthy(*also_false) && !truthy(value));
  if (!missing) return value;
  return fallback ? *fallback : Value(std::string());
}

Value json_of(const Value& value, const Arguments& arguments) {
  for (const auto& [name, argument] : arguments.named) {
    HEED_CHECK(name == "indent" || name == "ensure_ascii",
               "tojson has no argument {}: heed knows indent", io::in_quotes(name));
    HEED_CHECK(name != "ensure_ascii" || !truthy(argument), "tojson writes UTF-8, not ASCII");
  }
  const Value* indent = arguments.find(0, "indent");
  if (!indent || indent->none()) return to_json(value, std::nullopt);
  const std::int64_t columns = need_integer(*indent, "tojson");
  HEED_CHECK(columns >= 0 && columns <= 16, "tojson: indent is {}: 0 to 16 are allowed", columns);
  return to_json(value, static_cast<int>(columns));
}

// selectattr and rejectattr: the items whose member passes a test (or is true).
Value select(const Value& value, const Arguments& arguments, bool keep) {
  HEED_CHECK(!arguments.positional.empty(), "selectattr needs the name of a member");
  List chosen;
  for (const Value& item : elements_of(value)) {
    const Value member = member_of(item, arguments.positional[0]);
    bool passes = truthy(member);
    if (arguments.positional.size() > 1) {
      Arguments rest;
      rest.positional.assign(arguments.positional.begin() + 2, arguments.positional.end());
      passes = apply_test(need_text(arguments.positional[1], "selectattr"), member, rest);
    }
    if (passes == keep) chosen.push_back(item);
  }
  return chosen;
}

Value map_members(const Value& value, const Arguments& arguments) {
  const Value* attribute = arguments.find(~std::size_t{0}, "attribute");
  List mapped;
  for (const Value& item : elements_of(value)) {
    if (attribute) {
      mapped.push_back(member_of(item, *attribute));
    } else {
      HEED_CHECK(arguments.positional.size() == 1, "map needs attribute=… or the name of a filter");
      mapped.push_back(apply_filter(need_text(arguments.positional[0], "map"), item, {}));
    }
  }
  return mapped;
}

Value whole_number(const Value& value) {
  if (value.integer()) return value;
  if (const auto number = value.number()) return static_cast<std::int64_t>(*number);
  const std::string text = strip(to_text(value), nullptr, true, true);
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  return end != text.c_str() && *end == '\0' ? static_cast<std::int64_t>(number) : std::int64_t{0};
}

Value first_or_last(const Value& value, bool first) {
  const List items = elements_of(value);
  if (items.empty()) return Undefined{first ? "first" : "last"};
  return first ? items.front() : items.back();
}

struct Filter {
  std::string_view name;
  std::function<Value(const Value&, const Arguments&)> run;
};

const std::vector<Filter>& filters() {
  using V = const Value&;
  using A = const Arguments&;
  static const std::vector<Filter> list = {
      {"trim", [](V v, A a) -> Value { return strip(to_text(v), a.find(0, "chars"), true, true); }},
      {"length", [](V v, A) { return length_of(v); }},
      {"count", [](V v, A) { return length_of(v); }},
      {"tojson", [](V v, A a) { return json_of(v, a); }},
      {"upper", [](V v, A) -> Value { return upper(to_text(v)); }},
      {"lower", [](V v, A) -> Value { return unicode::lower(to_text(v)); }},
      {"title", [](V v, A) -> Value { return title(to_text(v), true); }},
      {"capitalize", [](V v, A) -> Value { return title(to_text(v), false); }},
      {"default", [](V v, A a) { return default_for(v, a); }},
      {"d", [](V v, A a) { return default_for(v, a); }},
      {"join", [](V v, A a) { return join(v, a); }},
      {"list", [](V v, A) -> Value { return elements_of(v); }},
      {"string", [](V v, A) -> Value { return to_text(v); }},
      {"safe", [](V v, A) { return v; }},
      {"int", [](V v, A) { return whole_number(v); }},
      {"first", [](V v, A) { return first_or_last(v, true); }},
      {"last", [](V v, A) { return first_or_last(v, false); }},
      {"reverse",
       [](V v, A) -> Value {
         List items = elements_of(v);
         std::reverse(items.begin(), items.end());
         return items;
       }},
      {"replace", [](V v, A a) -> Value { return replace(to_text(v), a); }},
      {"items",
       [](V v, A) -> Value {
         HEED_CHECK(v.dict() || v.undefined(), "items needs a dict, found {}", describe(v));
         return v.dict() ? pairs_of(*v.dict()) : Value(List{});
       }},
      {"selectattr", [](V v, A a) { return select(v, a, true); }},
      {"rejectattr", [](V v, A a) { return select(v, a, false); }},
      {"map", [](V v, A a) { return map_members(v, a); }},
  };
  return list;
}

Value text_method(const std::string& text, std::string_view name, const Arguments& arguments) {
  if (name == "strip") return strip(text, arguments.find(0, "chars"), true, true);
  if (name == "lstrip") return strip(text, arguments.find(0, "chars"), true, false);
  if (name == "rstrip") return strip(text, arguments.find(0, "chars"), false, true);
  if (name == "startswith") return has_affix(text, arguments, true);
  if (name == "endswith") return has_affix(text, arguments, false);
  if (name == "split") return split(text, arguments.find(0, "sep"), arguments.find(1, "maxsplit"));
  if (name == "replace") return replace(text, arguments);
  if (name == "upper") return upper(text);
  if (name == "lower") return unicode::lower(text);
  if (name == "title") return title(text, true);
  if (name == "capitalize") return title(text, false);
  fail(
      "strings have no method {}: heed knows strip, lstrip, rstrip, startswith, endswith, split, "
      "replace, upper, lower, title and capitalize",
      io::in_quotes(name));
}

Value dict_method(const Dict& dict, std::string_view name, const Arguments& arguments) {
  if (name == "items") return pairs_of(dict);
  if (name == "get") {
    const Value* key = arguments.find(0, "key");
    const Value* fallback = arguments.find(1, "default");
    HEED_CHECK(key, "get needs a key");
    const Value* found = key->text() ? dict.find(*key->text()) : nullptr;
    return found ? *found : fallback ? *fallback : Value();
  }
  List items;
  if (name == "keys") {
    for (const auto& member : dict.members) items.emplace_back(member.first);
    return items;
  }
  if (name == "values") {
    for (const auto& member : dict.members) items.push_back(member.second);
    return items;
  }
  fail("dicts have no method {}: heed knows get, items, keys and values", io::in_quotes(name));
}

}  // namespace

const Value* Arguments::find(std::size_t position, std::string_view name) const {
  if (position < positional.size()) return &positional[position];
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return nullptr;
}

Value apply_filter(std::string_view name, const Value& value, const Arguments& arguments) {
  std::vector<std::string_view> names;
  for (const Filter& filter : filters()) {
    if (filter.name == name) return filter.run(value, arguments);
    names.push_back(filter.name);
  }
  fail("the filter {} is not supported: heed knows {}", io::in_quotes(name),
       fmt::join(names, ", "));
}

bool apply_test(std::string_view name, const Value& value, const Arguments& arguments) {
  const Value* other = arguments.find(0, "other");
  if (name == "defined") return !value.undefined();
  if (name == "undefined") return value.undefined();
  if (name == "none") return value.none();
  if (name == "string") return value.text() != nullptr;
  if (name == "mapping") return value.dict() != nullptr;
  if (name == "sequence") return value.text() || value.list() || value.dict();
  if (name == "iterable") return value.text() || value.list() || value.dict() || value.undefined();
  if (name == "number") return value.number().has_value();
  if (name == "integer") return value.integer() != nullptr;
  if (name == "float") return value.real() != nullptr;
  if (name == "boolean") return value.boolean() != nullptr;
  if (name == "true") return value.boolean() && *value.boolean();
  if (name == "false") return value.boolean() && !*value.boolean();
  if (name == "odd" || name == "even") {
    return (need_integer(value, name) % 2 == 0) == (name == "even");
  }
  if (name == "equalto" || name == "eq" || name == "sameas") {
    HEED_CHECK(other, "the test {} needs a value", name);
    return equal(value, *other);
  }
  if (name == "divisibleby") {
    HEED_CHECK(other && need_integer(*other, name) > 0, "the test divisibleby needs a number");
    return need_integer(value, name) % *other->integer() == 0;
  }
  fail(
      "the test {} is not supported: heed knows defined, undefined, none, string, mapping, "
      "sequence, iterable, number, integer, float, boolean, true, false, odd, even, equalto and "
      "divisibleby",
      io::in_quotes(name));
}

Value call_method(const Value& object, std::string_view name, const Arguments& arguments) {
  if (const std::string* text = object.text()) return text_method(*text, name, arguments);
  if (const Dict* dict = object.dict()) return dict_method(*dict, name, arguments);
  fail("{} has no method {}", describe(object), io::in_quotes(name));
}

List elements_of(const Value& value) {
  List items;
  if (value.undefined()) return items;
  if (const List* list = value.list()) return *list;
  if (const std::string* text = value.text()) {
    for (const std::string_view c : unicode::split(*text)) items.emplace_back(std::string(c));
    return items;
  }
  HEED_CHECK(value.dict(), "{} is no list", describe(value));
  for (const auto& member : value.dict()->members) items.emplace_back(member.first);
  return items;
}

Value member_of(const Value& object, const Value& index) {
  HEED_CHECK(!object.undefined(), "{} is undefined",
             io::in_quotes(std::get<Undefined>(object.data).name));
  if (const Dict* dict = object.dict()) {
    const Value* found = index.text() ? dict->find(*index.text()) : nullptr;
    return found ? *found : Value(Undefined{to_text(index)});
  }
  const std::int64_t* number = index.integer();
  if (!number || (!object.list() && !object.text())) return Undefined{to_text(index)};
  const List items = object.list() ? List() : elements_of(object);
  const List& all = object.list() ? *object.list() : items;
  const auto size = static_cast<std::int64_t>(all.size());
  const std::int64_t at = *number < 0 ? *number + size : *number;
  if (at < 0 || at >= size) return Undefined{to_text(index)};
  return all[static_cast<std::size_t>(at)];
}

Value slice_of(const Value& object, const Value* from, const Value* to, const Value* step) {
  HEED_CHECK(object.list() || object.text(), "{} cannot be sliced", describe(object));
  const auto given = [](const Value* bound) { return bound && !bound->none(); };
  const std::int64_t stride = given(step) ? need_integer(*step, "a slice") : 1;
  HEED_CHECK(stride == 1 || stride == -1, "a slice has step {}: heed knows 1 and -1", stride);
  const List items = elements_of(object);
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
  const auto bound = [&](const Value* value, std::int64_t open) {
    if (!given(value)) return open;
    const std::int64_t at = need_integer(*value, "a slice");
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  const std::int64_t begin = bound(from, stride > 0 ? low : high);
  const std::int64_t end = bound(to, stride > 0 ? high : low);
  List chosen;
  for (std::int64_t i = begin; stride > 0 ? i < end : i > end; i += stride) {
    chosen.push_back(items[static_cast<std::size_t>(i)]);
  }
  if (object.list()) return chosen;
  std::string text;
  for (const Value& c : chosen) text += *c.text();
  return text;
}

}  // namespace heed::jinja
