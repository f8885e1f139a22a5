#include "python/bindings/tree.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/text/unicode.h"
#include "python/bindings/python_error.h"

namespace heed::python {
namespace {

std::int64_t integer_of(const std::string& name, nb::handle object) {
  const long long value = PyLong_AsLongLong(object.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    fail("{}: an integer beyond 64 bits: give a smaller one", name);
  }
  return value;
}

io::Value value_at(const std::string& name, nb::handle object, int depth);

io::Value::Table table_of(const std::string& name, nb::handle object, int depth) {
  io::Value::Table table;
  for (const auto [key, item] : nb::borrow<nb::dict>(object)) {
    const std::string member = text_of(name.empty() ? "a key" : "a key of " + name, key);
    const std::string path = name.empty() ? member : fmt::format("{}.{}", name, member);
    table.push_back({member, value_at(path, item, depth)});
  }
  return table;
}

io::Value::List list_of(const std::string& name, nb::handle object, int depth) {
  io::Value::List list;
  for (const nb::handle item : object) {
    list.push_back(value_at(fmt::format("{}[{}]", name, list.size()), item, depth));
  }
  return list;
}

struct ToObject {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(bool value) const { return nb::bool_(value); }
  nb::object operator()(std::int64_t value) const { return nb::int_(value); }
  nb::object operator()(double value) const { return nb::float_(value); }
  nb::object operator()(const std::string& value) const { return to_str(value); }
  nb::object operator()(const io::Value::List& values) const {
    nb::list list;
    for (const io::Value& value : values) list.append(object_of(value));
    return list;
  }
  nb::object operator()(const io::Value::Table& members) const {
    nb::dict dict;
    for (const auto& [key, value] : members) dict[to_str(key)] = object_of(value);
    return dict;
  }
};

// A list that contains itself would never end.
io::Value value_at(const std::string& name, nb::handle object, int depth) {
  HEED_CHECK(depth <= io::kMaxDepth, "{}...: nested deeper than {}", name.substr(0, 100),
             io::kMaxDepth);
  PyObject* const o = object.ptr();
  if (object.is_none()) return {};
  if (PyBool_Check(o)) return {object.is(nb::handle(Py_True))};
  if (PyLong_Check(o)) return {integer_of(name, object)};
  if (PyFloat_Check(o)) return {PyFloat_AS_DOUBLE(o)};
  if (PyUnicode_Check(o)) return {text_of(name, object)};
  if (PyDict_Check(o)) return {table_of(name, object, depth + 1)};
  if (PyList_Check(o) || PyTuple_Check(o)) return {list_of(name, object, depth + 1)};
  if (nb::hasattr(object, "__fspath__")) return {path_of(name.c_str(), object).string()};
  if (nb::hasattr(object, "tolist")) return value_at(name, object.attr("tolist")(), depth + 1);
  throw_type_error(
      "{}: {} is none of what a setting can be: bool, int, float, str, a path, None, or a list or "
      "dict of those",
      name, type_of(object));
}

}  // namespace

io::Value value_of(const std::string& name, nb::handle object) { return value_at(name, object, 0); }

nb::object object_of(const io::Value& value) { return std::visit(ToObject{}, value.data); }

std::string text_of(const std::string& name, nb::handle object) {
  if (!PyUnicode_Check(object.ptr())) {
    throw_type_error("{}: {}: it must be a str", name, type_of(object));
  }
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) throw nb::python_error();  // a lone surrogate: a UnicodeEncodeError
  return {text, static_cast<std::size_t>(size)};
}

nb::iterator iterator_of(const char* name, nb::handle object) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr())) {
    throw_type_error("{}: one {}: it must be a list of str", name, type_of(object));
  }
  if (!nb::hasattr(object, "__iter__")) {
    throw_type_error("{}: {}: it must be a list of str", name, type_of(object));
  }
  return nb::iter(object);
}

std::vector<std::string> texts_of(const char* name, nb::handle object) {
  std::vector<std::string> texts;
  for (const nb::handle item : iterator_of(name, object)) {
    texts.push_back(text_of(fmt::format("{}[{}]", name, texts.size()), item));
  }
  return texts;
}

std::filesystem::path path_of(const char* name, nb::handle object) {
  PyObject* const path = PyOS_FSPath(object.ptr());
  if (path == nullptr) {
    PyErr_Clear();
    throw_type_error("{}: {}: it must be a str or a path", name, type_of(object));
  }
  return text_of(name, nb::steal(path));
}

nb::str to_str(std::string_view text) {
  if (!unicode::find_invalid(text)) return nb::str(text.data(), text.size());
  const std::string valid = unicode::make_valid(text);
  return nb::str(valid.data(), valid.size());
}

}  // namespace heed::python
