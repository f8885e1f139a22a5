// Log messages leave the library through a sink that the caller sets; without one they go nowhere.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

namespace heed {

enum class LogLevel { debug, info, warning, error };

using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Sets where messages go (an empty function: nowhere) and returns the sink before it. Safe from
/// any thread.
LogSink set_log_sink(LogSink sink);

/// True when somebody listens; lets callers skip building a message.
bool log_enabled();

/// Hands one message to the sink.
void log_message(LogLevel level, std::string_view message);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled()) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace heed
