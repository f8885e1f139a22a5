// The sink that log messages leave through.
#include "heed/base/log.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace heed {
namespace {

// Never destroyed: a message may still come from a static's destructor.
struct Sink {
  std::mutex mutex;
  std::shared_ptr<const LogSink> function;
  std::atomic<bool> enabled{false};
};

Sink& sink() {
  static Sink* const instance = new Sink;
  return *instance;
}

}  // namespace

LogSink set_log_sink(LogSink function) {
  const bool enabled = static_cast<bool>(function);
  auto next = enabled ? std::make_shared<const LogSink>(std::move(function)) : nullptr;
  const std::lock_guard lock(sink().mutex);
  sink().function.swap(next);
  sink().enabled.store(enabled);
  return next ? *next : LogSink{};
}

bool log_enabled() { return sink().enabled.load(std::memory_order_relaxed); }

void log_message(LogLevel level, std::string_view message) {
  std::shared_ptr<const LogSink> function;
  {
    const std::lock_guard lock(sink().mutex);
    function = sink().function;
  }
  // Called without the lock, so that a sink may itself log or set another sink.
  if (function) (*function)(level, message);
}

}  // namespace heed
