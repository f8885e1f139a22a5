#include "python/bindings/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/suggest.h"
#include "python/bindings/python_error.h"
#include "python/bindings/tree.h"

namespace heed::python {
namespace {

bool fits(const io::Value& given, const io::Value& usual) {
  if (usual.is_null()) return true;  // an optional field: the field checks the type
  if (usual.floating() != nullptr) return given.floating() != nullptr || given.integer() != nullptr;
  return given.data.index() == usual.data.index();
}

std::string type_name(const io::Value& usual) {
  if (usual.boolean() != nullptr) return "bool";
  if (usual.integer() != nullptr) return "int";
  if (usual.floating() != nullptr) return "float";
  if (usual.list() != nullptr) return "list[str] | tuple[str, ...]";
  return "str";
}

}  // namespace

void read_options(io::Fields& fields, const char* function, const nb::kwargs& options) {
  const io::Value defaults = fields.write();
  const std::vector<io::FieldInfo> infos = fields.list();
  std::vector<std::string_view> names;
  names.reserve(infos.size());
  for (const io::FieldInfo& info : infos) names.push_back(info.path);
  io::Value::Table given;
  for (const auto [key, item] : options) {
    const std::string name = text_of("a keyword", key);
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) {
      const std::string guess(nearest(name, names));
      throw_type_error("{}() got an unexpected keyword argument '{}': {}", function, name,
                       guess.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                     : fmt::format("did you mean '{}'?", guess));
    }
    io::Value value = value_of(name, item);
    if (!fits(value, *io::find(*defaults.table(), name))) {
      throw_type_error("{}(): {} = {}: expected {}", function, name, nb::repr(item).c_str(),
                       infos[static_cast<std::size_t>(at - names.begin())].type);
    }
    given.push_back({name, std::move(value)});
  }
  fields.read({std::move(given)}, fmt::format("{}()", function));
}

std::string signature(const std::string& before, const io::Fields& fields,
                      const std::string& after) {
  std::string text = before;
  const io::Value defaults = fields.write();
  for (const auto& [name, value] : *defaults.table()) {
    text +=
        fmt::format(", {}: {} = {}", name, type_name(value), nb::repr(object_of(value)).c_str());
  }
  return text + after;
}

std::string help(const std::string& about, const io::Fields& fields) {
  std::string text = about + "\n";
  for (const io::FieldInfo& info : fields.list()) {
    text += fmt::format("\n{}: {} ({})", info.path, info.help, info.type);
  }
  return text;
}

}  // namespace heed::python
