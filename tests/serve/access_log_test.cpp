#include "heed/serve/access_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/io/json.h"
#include "tests/support/temp_dir.h"

namespace heed::serve {
namespace {

TEST(AccessLog, ALineIsJsonWhateverClientsSend) {
  const HttpRequest request{.method = "GET", .path = "/\"\n\xff", .address = "127.0.0.1"};
  Facts facts;
  facts.model = "m";
  const std::string line = log_line(request, facts, {.status = 404, .bytes = 12}, "now");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const io::Value value = io::parse_json(line, "line");
  EXPECT_EQ(*io::find(*value.table(), "path")->string(), "/\"\n\uFFFD");
  EXPECT_EQ(*io::find(*value.table(), "status")->integer(), 404);
}

TEST(AccessLog, IsAppendedToAndOpenedAgain) {
  const TempDir folder;
  const std::filesystem::path path = folder / "log", old = folder / "old";
  AccessLog log(path.string());
  log.add({.path = "/a"}, {}, {});
  std::filesystem::rename(path, old);
  log.reopen();
  log.add({.path = "/b"}, {}, {});
  log.flush();
  EXPECT_NE(io::read_file(old, 10000).find("/a"), std::string::npos);
  EXPECT_NE(io::read_file(path, 10000).find("/b"), std::string::npos);
  EXPECT_THROW(AccessLog("/nowhere/log"), Error);
  AccessLog("").add({}, {}, {});  // no log
}

// Standard error is often a pipe, whose reader may hang.
TEST(AccessLog, NeverWaitsForItsReader) {
  const TempDir folder;
  const std::filesystem::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  const HttpRequest request{.path = "/" + std::string(1000, 'a')};
  {
    AccessLog log(path.string());
    for (int i = 0; i < 20000; ++i) log.add(request, {}, {});  // 20 MB, of which 64 KB are taken
    std::string text, part(1 << 16, ' ');
    for (int i = 0; i < 10000 && text.find("lines_left_out") == std::string::npos; ++i) {
      const auto count = ::read(reader, part.data(), part.size());
      if (count > 0) text.append(part, 0, static_cast<std::size_t>(count));
      if (count <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      log.add(request, {}, {});
    }
    EXPECT_NE(text.find("lines_left_out"), std::string::npos);
  }  // it ends with lines that nobody reads
  ::close(reader);
}

}  // namespace
}  // namespace heed::serve
