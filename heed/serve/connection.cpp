#include "heed/serve/connection.h"

namespace heed::serve {

bool Connections::enter(const std::string& client) {
  const ServeLimits& limits = service_.config().limits;
  const std::lock_guard lock(mutex_);
  std::int64_t& here = of_client_[client];
  if (here >= limits.connections_per_address ||
      count_ >= static_cast<std::size_t>(limits.connections)) {
    if (here == 0) of_client_.erase(client);
    return false;
  }
  ++here;
  ++count_;
  ++service_.metrics().connections;
  return true;
}

void Connections::leave(const std::string& client) {
  const std::lock_guard lock(mutex_);
  const auto at = of_client_.find(client);
  if (--at->second == 0) of_client_.erase(at);
  --count_;
  --service_.metrics().connections;
}

void Connections::add(const std::weak_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  all_.insert(connection);
}

void Connections::remove_gone() {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [](const auto& connection) { return connection.expired(); });
}

std::size_t Connections::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::vector<std::shared_ptr<Connection>> Connections::alive() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Connection>> found;
  for (const auto& connection : all_) {
    if (auto one = connection.lock()) found.push_back(std::move(one));
  }
  return found;
}

bool Connections::try_hold(std::size_t bytes) {
  constexpr std::int64_t kMegabyte = 1 << 20;
  const auto more = static_cast<std::int64_t>(bytes);
  if (held_.fetch_add(more) + more <= service_.config().limits.buffer_megabytes * kMegabyte) {
    return true;
  }
  held_ -= more;
  return false;
}

void Connections::close_when_idle() {
  for (const auto& connection : alive()) connection->close_when_idle();
}

void Connections::close_now() {
  for (const auto& connection : alive()) connection->close_now();
}

}  // namespace heed::serve
