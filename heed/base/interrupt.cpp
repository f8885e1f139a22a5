#include "heed/base/interrupt.h"

#include <utility>

namespace heed {
namespace {

constexpr std::chrono::milliseconds kInterval{10};

constinit thread_local InterruptScope* innermost = nullptr;

}  // namespace

InterruptScope::InterruptScope(std::function<void()> check)
    : check_(std::move(check)), before_(std::exchange(innermost, this)) {}

InterruptScope::~InterruptScope() { innermost = before_; }

void check_interrupt() {
  InterruptScope* const scope = innermost;
  if (scope == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < scope->next_) return;
  scope->next_ = now + kInterval;
  scope->check_();
}

}  // namespace heed
