// The messages of a transfer, of which only a few are in flight at once. If every rank sent to all
// others in the order of their numbers, all would send to rank 0 first, and its link would carry
// everything. So rank r sends to r + 1, r + 2, … and receives from r - 1, r - 2, …: at any moment
// each rank is the receiver of about as many messages as it sends. Hundreds of messages at once
// would share the link of their sender and each take a buffer of MPI, and nothing would be faster.
//
// No order of transfers can block. A message has the same distance, receiver minus sender, on both
// of its sides, and each transfer has at least its first missing message of either direction in
// flight. So both sides have started the message of the least distance that is missing anywhere.
// Ranks need not agree on the order in which they start transfers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "heed/distributed/communicator.h"

namespace heed {

/// Messages in flight: how many there may be in each direction, and how many there are. Several
/// transfers may share one.
struct Window {
  static constexpr std::size_t kMost = 16;

  std::size_t most = kMost;
  std::size_t sent = 0;
  std::size_t received = 0;
};

/// Link starts messages and tests whether they are complete:
///
///   Handle send(const Outgoing&);
///   Handle receive(const Incoming&);
///   void test(std::span<Handle>, std::vector<std::size_t>& done);  // done: which are complete
///   static constexpr std::size_t kMostBytes;                       // of a message
template <typename Link>
class Flow {
 public:
  /// Starts the first messages. The bytes, the link and the window must stay in place.
  Flow(const Communicator& ranks, Link& link, Window& window, std::span<const Outgoing> sent,
       std::span<const Incoming> received)
      : link_(link), window_(window) {
    const int rank = ranks.rank(), size = ranks.size();
    sent_.waiting = in_order<Outgoing>(
        sent, [&](const Outgoing& message) { return (message.to - rank + size) % size; });
    received_.waiting = in_order<Incoming>(
        received, [&](const Incoming& message) { return (rank - message.from + size) % size; });
    for (const Outgoing& message : sent) bytes_ += message.bytes.size();
    for (const Incoming& message : received) bytes_ += message.bytes.size();
    fill(window_.most);
  }
  ~Flow() {
    window_.sent -= sent_.in_flight;
    window_.received -= received_.in_flight;
  }
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  /// Notices which messages of some flows are complete, and starts what there is room for.
  static void move(Link& link, std::span<Flow* const> flows) {
    std::vector<Handle> handles;
    std::vector<std::pair<Flow*, std::size_t>> places;
    for (Flow* const flow : flows) {
      for (std::size_t i = 0; i < flow->handles_.size(); ++i) places.push_back({flow, i});
      handles.insert(handles.end(), flow->handles_.begin(), flow->handles_.end());
    }
    if (handles.empty()) return;
    std::vector<std::size_t> done;
    link.test(handles, done);
    std::ranges::sort(done, std::greater<>());  // removing one changes the places after it
    for (const std::size_t i : done) places[i].first->remove(places[i].second);
    for (Flow* const flow : flows) flow->fill(flow->window_.most);
  }

  bool is_complete() const { return handles_.empty(); }
  /// Whether no message waits for its turn.
  bool has_started_all() const { return sent_.rest().empty() && received_.rest().empty(); }

  /// Starts all messages that wait. Whatever is missing long after this is the fault of its
  /// partner, not of a message before it.
  void start_all() { fill(static_cast<std::size_t>(-1)); }

  /// The partners of missing messages, in ascending order.
  std::vector<int> missing() const {
    std::vector<int> partners;
    for (const InFlight& one : in_flight_) partners.push_back(one.partner);
    for (const Outgoing& message : sent_.rest()) partners.push_back(message.to);
    for (const Incoming& message : received_.rest()) partners.push_back(message.from);
    std::ranges::sort(partners);
    const auto doubles = std::ranges::unique(partners);
    partners.erase(doubles.begin(), doubles.end());
    return partners;
  }

  /// Bytes of all messages.
  std::size_t bytes() const { return bytes_; }

 private:
  using Handle = typename Link::Handle;

  // The messages of one direction.
  template <typename Message>
  struct Lane {
    std::vector<Message> waiting;
    std::size_t next = 0;       // the first that has not started
    std::size_t in_flight = 0;  // of this transfer

    std::span<const Message> rest() const { return std::span(waiting).subspan(next); }
  };
  struct InFlight {
    int partner;
    bool is_sent;
  };

  // By distance; messages between the same two ranks stay in their order. Long ones are cut.
  template <typename Message, typename Distance>
  static std::vector<Message> in_order(std::span<const Message> messages,
                                       const Distance& distance) {
    std::vector<Message> list;
    for (const Message& message : messages) {
      for (std::size_t at = 0; at < message.bytes.size(); at += Link::kMostBytes) {
        list.push_back(message);
        const std::size_t left = message.bytes.size() - at;
        list.back().bytes = message.bytes.subspan(at, std::min(Link::kMostBytes, left));
      }
    }
    std::ranges::stable_sort(list, {}, distance);
    return list;
  }

  void fill(std::size_t most) {
    while (has_room(received_, window_.received, most)) {
      const Incoming& message = received_.waiting[received_.next++];
      add(link_.receive(message), {message.from, false});
    }
    while (has_room(sent_, window_.sent, most)) {
      const Outgoing& message = sent_.waiting[sent_.next++];
      add(link_.send(message), {message.to, true});
    }
  }

  template <typename Message>
  static bool has_room(const Lane<Message>& lane, std::size_t in_window, std::size_t most) {
    return lane.next < lane.waiting.size() && (lane.in_flight == 0 || in_window < most);
  }

  void add(Handle handle, InFlight one) {
    handles_.push_back(handle);
    in_flight_.push_back(one);
    ++(one.is_sent ? sent_.in_flight : received_.in_flight);
    ++(one.is_sent ? window_.sent : window_.received);
  }

  void remove(std::size_t i) {
    const InFlight one = in_flight_[i];
    --(one.is_sent ? sent_.in_flight : received_.in_flight);
    --(one.is_sent ? window_.sent : window_.received);
    handles_[i] = handles_.back();
    in_flight_[i] = in_flight_.back();
    handles_.pop_back();
    in_flight_.pop_back();
  }

  Link& link_;
  Window& window_;
  Lane<Outgoing> sent_;
  Lane<Incoming> received_;
  std::vector<Handle> handles_;
  std::vector<InFlight> in_flight_;  // of each handle
  std::size_t bytes_ = 0;
};

}  // namespace heed
