// Starts connections, plain and encrypted, each in a file of its own: both take long to compile.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "heed/serve/connection.h"

namespace heed::serve {

/// A connection that was accepted, and that Connections::enter() has counted.
struct Accepted {
  boost::asio::ip::tcp::socket socket;
  std::string address;
};

void start_plain_session(Accepted accepted, Service& service, Connections& connections);
void start_tls_session(Accepted accepted, std::shared_ptr<boost::asio::ssl::context> context,
                       Service& service, Connections& connections);

}  // namespace heed::serve
