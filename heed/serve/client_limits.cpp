#include "heed/serve/client_limits.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

int whole_seconds(double seconds) {
  return static_cast<int>(std::clamp(std::ceil(seconds), 1.0, 3600.0));
}

}  // namespace

// The tokens that are there at a time.
double RateBucket::at(Clock::time_point now) const {
  const double minutes = std::chrono::duration<double, std::ratio<60>>(now - last_).count();
  return std::min(capacity(), tokens_ + std::max(0.0, minutes) * rate_);
}

std::optional<double> RateBucket::take(Clock::time_point now) {
  tokens_ = at(now);
  last_ = std::max(last_, now);
  if (tokens_ < 1) return wait(now);
  tokens_ -= 1;
  return {};
}

double RateBucket::wait(Clock::time_point now) const {
  return std::max(0.0, (1 - at(now)) * 60 / rate_);
}

bool RateBucket::is_full(Clock::time_point now) const { return at(now) >= capacity(); }

std::string client_of(const std::string& address) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (std::ranges::equal(kMapped, std::span(bytes).first(kMapped.size()))) {  // ::ffff:192.0.2.1
    return ::inet_ntop(AF_INET, bytes.data() + kMapped.size(), text.data(), text.size());
  }
  std::ranges::fill(std::span(bytes).subspan(8), static_cast<unsigned char>(0));
  return std::string(::inet_ntop(AF_INET6, bytes.data(), text.data(), text.size())) + "/64";
}

ClientPermit::~ClientPermit() { limits_.leave(client_, texts_); }

void ClientPermit::add_texts(std::int64_t texts) {
  limits_.add_texts(client_, texts);
  texts_ += texts;
}

std::shared_ptr<ClientPermit> ClientLimits::enter(const std::string& client,
                                                  std::optional<double> per_minute,
                                                  Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Client& entry = clients_[client];
  if (entry.running >= options_.at_once) {
    throw try_again(429,
                    "too many requests at the same time: wait for answers before you send more", 1,
                    "concurrency");
  }
  const double rate = per_minute.value_or(options_.per_minute);
  if (rate > 0) {
    if (!entry.bucket || entry.bucket->rate() != rate) entry.bucket.emplace(rate);
    if (const std::optional<double> wait = entry.bucket->take(now)) {
      throw try_again(429, "too many requests in a minute", whole_seconds(*wait), "rate");
    }
  }
  auto permit = std::make_shared<ClientPermit>(*this, client);
  ++entry.running;
  return permit;
}

void ClientLimits::add_texts(const std::string& client, std::int64_t texts) {
  if (texts > options_.texts) {
    throw ApiError(
        400, fmt::format("the request is {} texts for a model: send at most {} at a time", texts,
                         options_.texts));
  }
  const std::lock_guard lock(mutex_);
  Client& entry = clients_.at(client);
  if (entry.texts + texts > options_.texts) {
    throw try_again(429, "too many texts at the same time: wait for answers before you send more",
                    1, "texts");
  }
  entry.texts += texts;
}

void ClientLimits::leave(const std::string& client, std::int64_t texts) {
  const std::lock_guard lock(mutex_);
  const auto at = clients_.find(client);
  if (at == clients_.end()) return;
  at->second.texts -= texts;
  if (--at->second.running == 0 && !at->second.bucket) clients_.erase(at);
}

void ClientLimits::check_tries(const std::string& address, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto at = tries_.find(address);
  if (at == tries_.end() || now >= at->second.blocked_until) return;
  const double wait = std::chrono::duration<double>(at->second.blocked_until - now).count();
  throw try_again(429, "too many wrong keys from this address", whole_seconds(wait), "keys");
}

void ClientLimits::note_bad_key(const std::string& address, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Tries& tries =
      tries_.try_emplace(address, Tries{RateBucket(options_.bad_keys_per_minute)}).first->second;
  tries.bucket.take(now);
  tries.blocked_until = now + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(tries.bucket.wait(now)));
}

std::size_t ClientLimits::forget_idle(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [&](const auto& entry) {
    const Client& client = entry.second;
    return client.running == 0 && (!client.bucket || client.bucket->is_full(now));
  });
  std::erase_if(tries_, [&](const auto& entry) {
    return now >= entry.second.blocked_until && entry.second.bucket.is_full(now);
  });
  return clients_.size() + tries_.size();
}

}  // namespace heed::serve
