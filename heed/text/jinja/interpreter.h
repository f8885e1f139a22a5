// Runs the statements of a chat template.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "heed/text/jinja/ast.h"

namespace heed::jinja {

/// Bounds on a hostile template, and the clock.
struct RenderOptions {
  /// Evaluated expressions, plus one for every 16 bytes of text that they make.
  std::int64_t max_steps = 2'000'000;
  std::size_t max_output = std::size_t{16} << 20;
  /// strftime_now(format) of the template. If it is empty, a template that uses it is refused,
  /// because its output would depend on the time.
  std::function<std::string(const std::string& format)> strftime_now = {};
};

/// The text of a template for these variables. `name` begins messages.
std::string render(const Body& body, const Dict& variables, std::string_view name,
                   const RenderOptions& options = {});

}  // namespace heed::jinja
