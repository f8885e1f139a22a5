// The half of a connection that writes answers. Included by session.h only.
#pragma once

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "heed/serve/session.h"

namespace heed::serve {

template <typename Stream>
void Session<Stream>::answer(HttpResponse response) {
  asio::post(stream_.get_executor(), [me = self(), response = std::move(response)]() mutable {
    if (me->is_closed_) return;
    if (!me->hold(response.body.size())) {
      response = error_response(me->exchange_ ? me->exchange_->api : Api::plain,
                                try_again(503, "the server is short of memory", 5, "memory"));
    }
    me->facts_.status = response.status;
    std::string head =
        head_text(response, {.length = response.body.size(), .keeps_alive = me->keeps_alive()});
    me->is_whole_ = true;
    me->send(std::move(head), me->is_head_ ? "" : std::move(response.body));
  });
}

template <typename Stream>
void Session<Stream>::begin(HttpResponse head) {
  std::string first = std::exchange(head.body, {});
  asio::post(stream_.get_executor(), [me = self(), head = std::move(head)] {
    if (me->is_closed_) return;
    me->facts_.status = head.status;
    if (me->is_old_) me->keep_alive_ = false;
    me->send(head_text(head, {.is_chunked = !me->is_old_, .keeps_alive = me->keeps_alive()}));
  });
  if (!first.empty()) write(std::move(first));
}

template <typename Stream>
void Session<Stream>::write(std::string part) {
  asio::post(stream_.get_executor(), [me = self(), part = std::move(part)] {
    if (me->is_closed_ || part.empty()) return;
    me->send(me->is_old_ ? part : fmt::format("{:x}\r\n{}\r\n", part.size(), part));
  });
}

template <typename Stream>
void Session<Stream>::end() {
  asio::post(stream_.get_executor(), [me = self()] {
    if (me->is_closed_) return;
    me->is_whole_ = true;
    me->send(me->is_old_ ? "" : "0\r\n\r\n");
  });
}

// Without the last chunk, so that the client sees that something is missing.
template <typename Stream>
void Session<Stream>::abort() {
  asio::post(stream_.get_executor(), [me = self()] {
    if (me->is_closed_) return;
    me->is_whole_ = true;
    me->is_aborted_ = true;
    me->keep_alive_ = false;
    me->send("");
  });
}

// Counts bytes until the answer is sent.
template <typename Stream>
bool Session<Stream>::hold(std::size_t bytes) {
  if (!connections_.try_hold(bytes)) return false;
  held_ += bytes;
  return true;
}

template <typename Stream>
void Session<Stream>::send(std::string bytes, std::string more) {
  for (std::string* const part : {&bytes, &more}) {
    pending_ += part->size();
    facts_.bytes += static_cast<std::int64_t>(part->size());
    if (!part->empty()) out_.push_back(std::move(*part));
  }
  if (!is_whole_ && pending_ > kMostPending) return on_gone();
  pump();
}

// Writes all that waits at once. The client must read it in time.
template <typename Stream>
void Session<Stream>::pump() {
  if (is_writing_) return;
  if (out_.empty()) {
    if (is_whole_) finish_answer(!is_aborted_);
    return;
  }
  writing_.swap(out_);
  std::vector<asio::const_buffer> buffers;
  for (const std::string& part : writing_) buffers.push_back(asio::buffer(part));
  is_writing_ = true;
  write_deadline_.expires_after(std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(limits_.write_seconds)));
  write_deadline_.async_wait([me = self()](const error_code& error) {
    if (!error && me->is_writing_ && me->write_deadline_.expiry() <= Clock::now()) me->close();
  });
  asio::async_write(stream_, buffers,
                    [me = self()](const error_code& error, std::size_t) { me->on_written(error); });
}

template <typename Stream>
void Session<Stream>::on_written(const error_code& error) {
  is_writing_ = false;
  write_deadline_.cancel();
  for (const std::string& part : writing_) pending_ -= part.size();
  writing_.clear();
  if (is_closed_ && !exchange_) return;
  if (error || is_closed_) return exchange_ ? on_gone() : close();
  pump();
}

// The answer is sent, or cannot be.
template <typename Stream>
void Session<Stream>::finish_answer(bool is_complete) {
  ++waits_;
  deadline_.cancel();
  if (exchange_) {
    facts_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    facts_.is_complete = is_complete;
    service_.finished(*exchange_, facts_);
    exchange_.reset();
  }
  watch_timer_.cancel();
  connections_.drop(std::exchange(held_, 0));
  is_whole_ = false;
  if (!is_complete || is_closed_) return close();
  if (lingers_) return linger();
  keeps_alive() ? wait_for_request() : close();
}

// Reads what the client still sends, for a while: closing with unread bytes would discard the
// answer.
template <typename Stream>
void Session<Stream>::linger() {
  error_code ignored;
  socket().shutdown(Tcp::socket::shutdown_send, ignored);
  set_deadline(Phase::linger, kLingerSeconds);
  const auto discard = [](auto me, auto again) -> void {
    me->buffer_.clear();
    me->socket().async_read_some(me->buffer_.prepare(kReadBytes),
                                 [me, again](const error_code& error, std::size_t) {
                                   error ? me->close() : again(me, again);
                                 });
  };
  discard(self(), discard);
}

template <typename Stream>
void Session<Stream>::close() {
  if (is_closed_) return;
  is_closed_ = true;
  ++waits_;
  deadline_.cancel();
  write_deadline_.cancel();
  error_code ignored;
  // Clients of HTTP/1.0 know the end of a stream only by the end of the connection.
  if (is_aborted_ && is_old_) socket().set_option(Tcp::socket::linger(true, 0), ignored);
  socket().shutdown(Tcp::socket::shutdown_both, ignored);
  socket().close(ignored);
  if (exchange_ && !is_writing_) on_gone();
}

}  // namespace heed::serve
