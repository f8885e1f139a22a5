// The network: tests/cli/serve_test.py has more, on the whole program.
#include "heed/serve/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "heed/base/error.h"
#include "tests/serve/small_service.h"

namespace heed::serve {
namespace {

// Sends bytes to a port of this machine and returns all that comes back.
std::string talk(std::uint16_t port, const std::string& bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  std::string answer;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = ::recv(socket, part.data(), part.size(), 0)) > 0;) {
    answer.append(part.data(), static_cast<std::size_t>(n));
  }
  ::close(socket);
  return answer;
}

class RunningServer {
 public:
  explicit RunningServer(const ServeConfig& config)
      : service_(config), server_(service_), thread_([this] { server_.run(); }) {}
  ~RunningServer() {
    server_.stop();
    thread_.join();
  }
  std::uint16_t port() const { return server_.port(); }

 private:
  Service service_;
  Server server_;
  std::thread thread_;
};

TEST(Server, AnswersAndStops) {
  RunningServer server(small_models().config());
  const std::string answer =
      talk(server.port(), "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nok\n")) << answer;
  const std::string body = R"({"q": "abc", "target": "fr"})";
  const std::string translated = talk(server.port(),
                                      "POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                      "Content-Length: " +
                                          std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_NE(translated.find("translatedText"), std::string::npos) << translated;
}

TEST(Server, StreamsInChunks) {
  RunningServer server(small_models().config());
  const std::string body = R"({"model": "text", "prompt": "a", "max_tokens": 3, "stream": true})";
  const std::string head =
      "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n";
  const std::string answer = talk(server.port(), head + body);
  EXPECT_NE(answer.find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n0\r\n\r\n")) << answer;
  const std::string old = talk(server.port(), "POST /v1/completions HTTP/1.0\r\nContent-Length: " +
                                                  std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(old.ends_with("data: [DONE]\n\n")) << old;
}

TEST(Server, RefusesWhatIsNoRequest) {
  RunningServer server(small_models().config());
  EXPECT_TRUE(talk(server.port(), "HELLO\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(talk(server.port(), "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(talk(server.port(),
                   "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
                  .starts_with("HTTP/1.1 400 "));
}

// Those that take too long are told so; threads that still compute then must not answer to
// connections that are gone.
TEST(Server, EndsInTimeWhileItComputes) {
  const std::string body =
      R"({"model": "text", "prompt": "abc", "max_tokens": 12, "n": 16, "stream": true})";
  const std::string request =
      "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  for (int round = 0; round < 5; ++round) {
    ServeConfig config = small_models().config();
    config.limits.stop_seconds = 0.01;
    std::vector<std::thread> clients;
    std::vector<std::string> answers(16);
    {
      RunningServer server(config);
      for (std::string& answer : answers) {
        clients.emplace_back([&, port = server.port()] { answer = talk(port, request); });
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10 * round));
    }
    for (std::thread& client : clients) client.join();
    for (const std::string& answer : answers) {
      const bool is_whole = answer.ends_with("\r\n0\r\n\r\n");
      EXPECT_EQ(answer.find("[DONE]") != std::string::npos, is_whole) << answer;
    }
  }
}

TEST(Server, SaysWhyItCannotListen) {
  ServeConfig config = small_models().config();
  Service service(config);
  Server first(service);
  config.port = first.port();
  Service other(config);
  EXPECT_THROW(Server{other}, Error);
}

}  // namespace
}  // namespace heed::serve
