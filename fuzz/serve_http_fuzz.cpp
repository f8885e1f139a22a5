// Fuzzes the connections of a server: any bytes, sent to a server with small models on the loopback
// address, are answered with whole HTTP answers whose status is known, or the connection is closed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "heed/serve/server.h"
#include "tests/serve/small_service.h"

namespace {

using namespace heed;
using namespace heed::serve;

void require(bool condition) {
  if (!condition) std::abort();
}

// A server that runs until the program ends.
class FuzzedServer {
 public:
  FuzzedServer() : service_(config()), server_(service_), thread_([this] { server_.run(); }) {}
  ~FuzzedServer() {
    server_.stop();
    thread_.join();
  }
  std::uint16_t port() const { return server_.port(); }

 private:
  // Short times, so that what never ends takes milliseconds.
  static ServeConfig config() {
    ServeConfig config = small_models().config();
    config.limits.header_bytes = 4096;
    config.limits.body_bytes = 1 << 16;
    config.limits.header_seconds = config.limits.body_seconds = config.limits.idle_seconds = 0.02;
    return config;
  }

  Service service_;
  Server server_;
  std::thread thread_;
};

struct Answer {
  std::string bytes;
  bool is_reset = false;  // what was under way is lost then
};

Answer talk(std::uint16_t port, std::string_view bytes, bool ends) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  require(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const timeval patience{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (ends) ::shutdown(socket, SHUT_WR);
  Answer answer;
  std::array<char, 4096> part{};
  ssize_t count = 0;
  while ((count = ::recv(socket, part.data(), part.size(), 0)) > 0) {
    answer.bytes.append(part.data(), static_cast<std::size_t>(count));
  }
  answer.is_reset = count < 0 && errno == ECONNRESET;
  require(count == 0 || answer.is_reset);  // else it hangs
  ::close(socket);
  return answer;
}

// Removes one answer; false if it is not whole.
bool take_answer(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n\r\n");
  if (end == rest.npos) return false;
  const std::string_view head = rest.substr(0, end + 2);
  require(head.starts_with("HTTP/1.1 ") && head.size() > 12);
  const std::string_view status = head.substr(9, 3);
  require(status.find_first_not_of("0123456789") == status.npos && status != "500");
  rest.remove_prefix(end + 4);
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const std::size_t length = head.find(kLength);
  if (length != head.npos) {
    const std::size_t size = std::strtoul(head.data() + length + kLength.size(), nullptr, 10);
    if (rest.size() < size) return false;
    rest.remove_prefix(size);
    return true;
  }
  if (status == "204" || status == "100") return true;
  if (head.find("\r\nTransfer-Encoding: chunked") == head.npos) {  // to the end of the connection
    rest = {};
    return true;
  }
  for (;;) {
    const std::size_t line = rest.find("\r\n");
    if (line == rest.npos) return false;
    const std::size_t size = std::strtoul(std::string(rest.substr(0, line)).c_str(), nullptr, 16);
    if (rest.size() < line + 4 + size) return false;
    rest.remove_prefix(line + 4 + size);
    if (size == 0) return true;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FuzzedServer server;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool ends = size % 2 == 0;  // a client that sends no more may be taken as gone
  const Answer answer = talk(server.port(), bytes, ends);
  if (bytes.find("HEAD") != bytes.npos) return 0;  // answered with a length and no body
  for (std::string_view rest = answer.bytes; !rest.empty();) {
    if (take_answer(rest)) continue;
    if (!ends && !answer.is_reset) {
      std::fprintf(stderr, "not a whole answer: %s\nin: %s\n", std::string(rest).c_str(),
                   answer.bytes.c_str());
      std::abort();
    }
    break;
  }
  return 0;
}
