// Runs a fuzz target without libFuzzer: first every seed of a folder, then mutations of the seeds
// that depend only on the iteration number, so that a failure can be reproduced by its number.
// Usage: <name>_fuzz SEED_FOLDER ITERATIONS [FIRST_ITERATION]
#include <algorithm>
#include <array>
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

void insert(Bytes& bytes, std::size_t at, const std::uint8_t* from, std::size_t size) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), from, from + size);
}

void erase(Bytes& bytes, std::size_t at, std::size_t size) {
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  bytes.erase(first, first + static_cast<std::ptrdiff_t>(std::min(size, bytes.size() - at)));
}

void mutate(Bytes& bytes, const std::vector<Bytes>& seeds, Draws& draw) {
  const std::size_t at = draw.below(bytes.size());
  switch (bytes.empty() ? 4 : draw.below(9)) {
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
    case 4: {
      const char* token = kTokens[draw.below(kTokens.size())];
      insert(bytes, at, reinterpret_cast<const std::uint8_t*>(token), std::strlen(token));
      break;
    }
    case 5: {  // writes an extreme value at a position, often at the start
      const std::uint64_t edge = kEdges[draw.below(kEdges.size())];
      const std::size_t place = draw.below(2) == 0 ? 0 : at;
      std::memcpy(bytes.data() + place, &edge, std::min(sizeof edge, bytes.size() - place));
      break;
    }
    case 6: {  // replaces a digit by another, so that numbers stay numbers
      const auto digit = std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(),
                                      [](std::uint8_t c) { return c >= '0' && c <= '9'; });
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
  }
}

std::vector<Bytes> read_seeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> seeds;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

void report() {
  const long i = g_iteration;
  std::fprintf(stderr,
               i < 0 ? "failed at seed %ld of the sorted folder\n" : "failed at iteration %ld\n",
               i < 0 ? -1 - i : i);
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

int run(const std::filesystem::path& folder, long iterations, long first) {
  const std::vector<Bytes> seeds = read_seeds(folder);
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds in %s\n", folder.c_str());
    return 1;
  }
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    g_iteration = -1 - static_cast<int>(i);
    LLVMFuzzerTestOneInput(seeds[i].data(), seeds[i].size());
  }
  for (long i = first; i < first + iterations; ++i) {
    g_iteration = static_cast<int>(i);
    Draws draw(static_cast<std::uint64_t>(i));
    Bytes input = seeds[draw.below(seeds.size())];
    for (std::size_t n = 1 + draw.below(4); n > 0; --n) mutate(input, seeds, draw);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu seeds and %ld mutations passed\n", seeds.size(), iterations);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s SEED_FOLDER ITERATIONS [FIRST_ITERATION]\n", argv[0]);
    return 2;
  }
  report_crashes();
  try {
    return run(argv[1], std::atol(argv[2]), argc > 3 ? std::atol(argv[3]) : 0);
  } catch (const std::exception& error) {
    report();
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
