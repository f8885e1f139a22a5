#include "heed/serve/exchange.h"

#include "heed/serve/api_error.h"

namespace heed::serve {

void Exchange::answer(HttpResponse response) {
  std::function<void()> dropped;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  if (state_ != State::open) return;
  state_ = State::closed;
  dropped = std::move(on_cancel_);
  response.headers.insert(response.headers.end(), headers.begin(), headers.end());
  if (const auto transport = transport_.lock()) transport->answer(std::move(response));
}

void Exchange::begin(HttpResponse head) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::open) return;
  state_ = State::streaming;
  head.headers.insert(head.headers.end(), headers.begin(), headers.end());
  if (const auto transport = transport_.lock()) transport->begin(std::move(head));
}

void Exchange::write(std::string part) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::streaming) return;
  if (const auto transport = transport_.lock()) transport->write(std::move(part));
}

void Exchange::end() {
  std::function<void()> dropped;
  const std::lock_guard lock(mutex_);
  if (state_ != State::streaming) return;
  state_ = State::closed;
  dropped = std::move(on_cancel_);
  if (const auto transport = transport_.lock()) transport->end();
}

void Exchange::cancel() {
  std::function<void()> action;
  {
    const std::lock_guard lock(mutex_);
    if (is_cancelled_) return;
    is_cancelled_ = true;
    action = std::move(on_cancel_);
    on_cancel_ = {};
  }
  if (action) action();
}

void Exchange::expire(const ApiError& error) {
  std::function<void()> action;
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    action = std::move(on_cancel_);  // before the answer drops it
    on_cancel_ = {};
    if (state_ != State::closed) facts_.refusal = error.cause;
    if (state_ == State::streaming) {
      state_ = State::closed;
      if (const auto transport = transport_.lock()) {
        transport->write("data: " + error_response(api, error).body + "\n\n");
        transport->abort();
      }
    }
  }
  answer(error_response(api, error));
  if (action) action();
}

void Exchange::on_cancel(std::function<void()> action) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_cancelled_) {
      if (state_ != State::closed) on_cancel_ = std::move(action);
      return;
    }
  }
  action();
}

bool Exchange::is_cancelled() const {
  const std::lock_guard lock(mutex_);
  return is_cancelled_;
}

bool Exchange::is_open() const {
  const std::lock_guard lock(mutex_);
  return state_ != State::closed;
}

void Exchange::hold(std::shared_ptr<ClientPermit> permit) {
  const std::lock_guard lock(mutex_);
  permit_.swap(permit);
}

std::shared_ptr<ClientPermit> Exchange::permit() const {
  const std::lock_guard lock(mutex_);
  return permit_;
}

void Exchange::release() { hold(nullptr); }

Facts Exchange::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

void Exchange::note(const std::function<void(Facts&)>& change) {
  const std::lock_guard lock(mutex_);
  change(facts_);
}

}  // namespace heed::serve
