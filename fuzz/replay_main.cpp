// Runs a fuzz target without libFuzzer: first every seed of a folder, then mutations of the seeds
// that depend only on the iteration number, so that a failure can be reproduced by its number.
// Usage: <name>_fuzz SEED_FOLDER ITERATIONS [FIRST_ITERATION]   ITERATIONS may be a time: 30s
//        <name>_fuzz FILE                                      one input
// FUZZ_INPUT_FILE=FILE receives the input that fails; FUZZ_INPUT_SECONDS=N ends inputs that hang.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

// For the crash handler: the current iteration i; below zero, it means seed -1 - i.
volatile std::sig_atomic_t g_iteration = -1;
const Bytes* g_input = nullptr;  // the current input
unsigned g_seconds = 0;          // the longest that an input may take; 0: any time

/// Random numbers that depend only on the iteration (splitmix64).
class Draws {
 public:
  explicit Draws(std::uint64_t iteration) : state_(iteration * 0x9e3779b97f4a7c15ull) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : next() % bound; }

 private:
  std::uint64_t state_;
};

// Extreme values of the types of length and offset fields.
constexpr std::array<std::uint64_t, 10> kEdges = {
    0, 1, 8, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, ~0ull - 7, ~0ull};

// Tokens of the text formats.
constexpr std::array<const char*, 14> kTokens = {
    "{",    "}", "[", "]", "\"", ",", ":", "\\u0000", "1e999", "-1", "18446744073709551616",
    "null", "=", "\n"};

// Numbers in the place of others, and openings that nest.
constexpr std::array<const char*, 9> kNumbers = {
    "0",     "-1",  "1",  "2147483648", "9223372036854775807", "9223372036854775808",
    "1e308", "nan", "0.5"};
constexpr std::array<const char*, 4> kOpenings = {"[", "{\"a\":", "{a=", "["};

void insert(Bytes& bytes, std::size_t at, const std::uint8_t* from, std::size_t size) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), from, from + size);
}

void erase(Bytes& bytes, std::size_t at, std::size_t size) {
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  bytes.erase(first, first + static_cast<std::ptrdiff_t>(std::min(size, bytes.size() - at)));
}

void insert(Bytes& bytes, std::size_t at, const char* text) {
  insert(bytes, at, reinterpret_cast<const std::uint8_t*>(text), std::strlen(text));
}

bool is_digit(std::uint8_t c) { return c >= '0' && c <= '9'; }

// Mutations that keep a text a text: another number, a key twice, deep nesting.
void mutate_text(Bytes& bytes, std::size_t at, Draws& draw) {
  const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  switch (draw.below(3)) {
    case 0: {
      const auto first = std::find_if(from, bytes.end(), is_digit);
      const auto last = std::find_if_not(first, bytes.end(), is_digit);
      const auto place = static_cast<std::size_t>(first - bytes.begin());
      bytes.erase(first, last);
      insert(bytes, place, kNumbers[draw.below(kNumbers.size())]);
      break;
    }
    case 1: {  // a line, or what stands between two commas, twice
      const std::uint8_t end = draw.below(2) == 0 ? '\n' : ',';
      const auto first = std::find(from, bytes.end(), end);
      const auto last = std::find(first == bytes.end() ? first : first + 1, bytes.end(), end);
      const Bytes piece(first, last);
      insert(bytes, static_cast<std::size_t>(first - bytes.begin()), piece.data(), piece.size());
      break;
    }
    case 2: {
      const char* const opening = kOpenings[draw.below(kOpenings.size())];
      for (std::size_t n = draw.below(300); n > 0; --n) insert(bytes, at, opening);
      break;
    }
  }
}

void mutate(Bytes& bytes, const std::vector<Bytes>& seeds, Draws& draw) {
  const std::size_t at = draw.below(bytes.size());
  switch (bytes.empty() ? 4 : draw.below(10)) {
    case 0:
      bytes[at] ^= static_cast<std::uint8_t>(1u << draw.below(8));
      break;
    case 1:
      bytes[at] = static_cast<std::uint8_t>(draw.next());
      break;
    case 2:
      erase(bytes, at, 1 + draw.below(16));
      break;
    case 3:
      bytes.resize(at);
      break;
    case 4:
      insert(bytes, at, kTokens[draw.below(kTokens.size())]);
      break;
    case 5: {  // writes an extreme value at a position, often at the start
      const std::uint64_t edge = kEdges[draw.below(kEdges.size())];
      const std::size_t place = draw.below(2) == 0 ? 0 : at;
      std::memcpy(bytes.data() + place, &edge, std::min(sizeof edge, bytes.size() - place));
      break;
    }
    case 6: {  // replaces a digit by another, so that numbers stay numbers
      const auto digit =
          std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), is_digit);
      if (digit != bytes.end()) *digit = static_cast<std::uint8_t>('0' + draw.below(10));
      break;
    }
    case 7: {  // repeats a piece of this input
      const std::size_t size = std::min(1 + draw.below(64), bytes.size() - at);
      const Bytes piece(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
      insert(bytes, draw.below(bytes.size()), piece.data(), piece.size());
      break;
    }
    case 8: {  // joins the head of this input and the tail of another
      const Bytes& other = seeds[draw.below(seeds.size())];
      const std::size_t from = draw.below(other.size());
      bytes.resize(at);
      insert(bytes, at, other.data() + from, other.size() - from);
      break;
    }
    case 9:
      mutate_text(bytes, at, draw);
      break;
  }
}

Bytes read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Bytes> read_seeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> seeds;
  for (const auto& path : paths) seeds.push_back(read_bytes(path));
  return seeds;
}

void report() {
  const long i = g_iteration;
  std::fprintf(stderr,
               i < 0 ? "failed at seed %ld of the sorted folder\n" : "failed at iteration %ld\n",
               i < 0 ? -1 - i : i);
  const char* const path = std::getenv("FUZZ_INPUT_FILE");
  if (path == nullptr || g_input == nullptr) return;
  std::FILE* const file = std::fopen(path, "wb");
  if (file == nullptr) return;
  std::fwrite(g_input->data(), 1, g_input->size(), file);
  std::fclose(file);
}

void on_alarm(int) {
  std::fprintf(stderr, "an input takes more than %u seconds\n", g_seconds);
  report();
  std::_Exit(1);
}

// The address sanitizer has its own signal handlers, whose reports must not be lost.
#ifdef __SANITIZE_ADDRESS__
void report_crashes() { __asan_set_death_callback(report); }
#else
void on_signal(int signal) {
  report();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void report_crashes() {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) {
    std::signal(signal, on_signal);
  }
}
#endif

void try_input(const Bytes& input, long iteration) {
  g_iteration = static_cast<int>(iteration);
  g_input = &input;
  if (g_seconds > 0) ::alarm(g_seconds);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  if (g_seconds > 0) ::alarm(0);
}

/// When to stop: after a number of iterations, or of seconds ("30s").
class Limit {
 public:
  explicit Limit(const std::string& text)
      : number_(std::atol(text.c_str())), is_time_(text.ends_with('s')) {}
  bool reached(long done) const {
    if (!is_time_) return done >= number_;
    return std::chrono::steady_clock::now() - start_ >= std::chrono::seconds(number_);
  }

 private:
  long number_;
  bool is_time_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int run(const std::filesystem::path& folder, const Limit& limit, long first) {
  const std::vector<Bytes> seeds = read_seeds(folder);
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds in %s\n", folder.c_str());
    return 1;
  }
  for (std::size_t i = 0; i < seeds.size(); ++i) try_input(seeds[i], -1 - static_cast<long>(i));
  long i = first;
  for (; !limit.reached(i - first); ++i) {
    Draws draw(static_cast<std::uint64_t>(i));
    Bytes input = seeds[draw.below(seeds.size())];
    for (std::size_t n = 1 + draw.below(4); n > 0; --n) mutate(input, seeds, draw);
    try_input(input, i);
  }
  std::printf("%zu seeds and %ld mutations passed\n", seeds.size(), i - first);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s SEED_FOLDER ITERATIONS [FIRST_ITERATION]\n       %s FILE\n",
                 argv[0], argv[0]);
    return 2;
  }
  report_crashes();
  if (const char* const seconds = std::getenv("FUZZ_INPUT_SECONDS")) {
    g_seconds = static_cast<unsigned>(std::atoi(seconds));
    std::signal(SIGALRM, on_alarm);
  }
  try {
    if (argc > 2) return run(argv[1], Limit(argv[2]), argc > 3 ? std::atol(argv[3]) : 0);
    const Bytes input = read_bytes(argv[1]);
    try_input(input, -1);
    return 0;
  } catch (const std::exception& error) {
    report();
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
