// The test program's main: GoogleTest's, plus --folders=base,io to run the tests of these folders
// of tests/ only, and exit code 77 (skipped) when HEED_ISA names a set this CPU cannot run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/isa.h"

namespace {

constexpr int kSkipped = 77;

/// True when HEED_ISA is spelt right but not for this CPU; a misspelt name is left to fail.
bool isa_is_out_of_reach() {
  const char* wanted = std::getenv("HEED_ISA");
  if (wanted == nullptr) return false;
  using heed::Isa;
  for (const Isa isa : {Isa::sse4, Isa::avx2, Isa::avx512, Isa::neon}) {
    if (heed::name_of(isa) != wanted) continue;
    const auto available = heed::available_isas();
    return std::find(available.begin(), available.end(), isa) == available.end();
  }
  return false;
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

/// "ops" for ".../tests/ops/matmul_test.cpp".
std::string_view folder_of(std::string_view file) {
  constexpr std::string_view kRoot = "/tests/";
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

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto folders = take_folders(argc, argv);
  if (isa_is_out_of_reach()) {
    std::printf("skipped: this CPU cannot run HEED_ISA=%s\n", std::getenv("HEED_ISA"));
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
  return RUN_ALL_TESTS();
}
