// The test program's main: GoogleTest's, plus --folders=base,io to run the tests of these folders
// of tests/ only, and exit code 77 (skipped) when HEED_ISA names a set this CPU cannot run, or with
// --unless-preferred the set that it prefers. Each test starts with the same random numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/isa.h"
#include "heed/base/random.h"

namespace {

constexpr int kSkipped = 77;

/// Why the set that HEED_ISA names is skipped, if it is; a misspelt name is left to fail.
const char* reason_to_skip_isa(bool unless_preferred) {
  const char* wanted = std::getenv("HEED_ISA");
  if (wanted == nullptr) return nullptr;
  using heed::Isa;
  for (const Isa isa : {Isa::sse4, Isa::avx2, Isa::avx512, Isa::neon}) {
    if (heed::name_of(isa) != wanted) continue;
    const auto available = heed::available_isas();
    const auto found = std::find(available.begin(), available.end(), isa);
    if (found == available.end()) return "this CPU cannot run it";
    if (unless_preferred && found == available.begin()) return "this CPU prefers it";
  }
  return nullptr;
}

/// Takes a flag out of the arguments; true if it was there.
bool take_flag(std::string_view flag, int& argc, char** argv) {
  char** const kept = std::remove(argv + 1, argv + argc, flag);
  const bool found = kept != argv + argc;
  argc = static_cast<int>(kept - argv);
  return found;
}

/// Takes "--folders=a,b" out of the arguments.
std::set<std::string, std::less<>> take_folders(int& argc, char** argv) {
  constexpr std::string_view kFlag = "--folders=";
  std::set<std::string, std::less<>> folders;
  char** kept = std::remove_if(argv + 1, argv + argc, [&](std::string_view argument) {
    if (!argument.starts_with(kFlag)) return false;
    argument.remove_prefix(kFlag.size());
    while (!argument.empty()) {
      const auto comma = argument.find(',');
      folders.emplace(argument.substr(0, comma));
      argument.remove_prefix(comma == argument.npos ? argument.size() : comma + 1);
    }
    return true;
  });
  argc = static_cast<int>(kept - argv);
  return folders;
}

/// "ops" for "tests/ops/matmul_test.cpp", also after the path of the checkout.
std::string_view folder_of(std::string_view file) {
  constexpr std::string_view kRoot = "tests/";
  if (const auto root = file.rfind(kRoot); root != file.npos) {
    file.remove_prefix(root + kRoot.size());
  }
  return file.substr(0, file.find('/'));
}

/// The filter that selects exactly the tests whose source lies in one of the folders.
std::string filter_for(const std::set<std::string, std::less<>>& folders) {
  std::string filter;
  const auto& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const auto& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const auto& test = *suite.GetTestInfo(t);
      if (folders.contains(folder_of(test.file()))) {
        filter += std::string(suite.name()) + '.' + test.name() + ':';
      }
    }
  }
  return filter;
}

/// What a test draws does not depend on the tests before it. Some of those draw more numbers on a
/// slow machine, and a limit that random inputs keep a thousand times may fail once.
class SameNumbers : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    heed::default_generator() = heed::Generator();
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto folders = take_folders(argc, argv);
  const bool unless_preferred = take_flag("--unless-preferred", argc, argv);
  if (const char* const reason = reason_to_skip_isa(unless_preferred)) {
    std::printf("HEED_ISA=%s is skipped: %s\n", std::getenv("HEED_ISA"), reason);
    return kSkipped;
  }
  if (!folders.empty()) {
    const std::string filter = filter_for(folders);
    if (filter.empty()) {
      std::printf("no test lies in the folders given by --folders\n");
      return EXIT_FAILURE;
    }
    testing::GTEST_FLAG(filter) = filter;
  }
  testing::UnitTest::GetInstance()->listeners().Append(new SameNumbers);  // owned by GoogleTest
  return RUN_ALL_TESTS();
}
