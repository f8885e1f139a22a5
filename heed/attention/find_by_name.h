// Entries of lists by name, for position codes and mechanisms.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/suggest.h"
#include "heed/io/value.h"

namespace heed {

/// The entry with that name. An unknown name is an error that names the nearest one: `[op] there is
/// no WHAT "nmae": did you mean "name"?`, where `what` is "[op] there is no WHAT".
template <typename Entry>
const Entry& find_by_name(std::span<const Entry> list, std::string_view name,
                          std::string_view what) {
  std::vector<std::string_view> names;
  for (const Entry& entry : list) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  const std::string_view near = nearest(name, names);
  throw Error(fmt::format(
      "{} {}: {}", what, io::in_quotes(name),
      near.empty() ? "`heed list` shows all" : fmt::format("did you mean \"{}\"?", near)));
}

}  // namespace heed
