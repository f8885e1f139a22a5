#include "torture/work_folder.h"

#include <stdlib.h>  // mkdtemp

#include <string_view>
#include <system_error>

#include "heed/base/error.h"
#include "heed/data/grammar.h"
#include "heed/io/file.h"

namespace heed::torture {
namespace {

namespace fs = std::filesystem;

void write_texts(const fs::path& prefix, std::span<const GrammarPair> pairs) {
  write_pairs(prefix, pairs);
  std::string labelled;
  for (const GrammarPair& pair : pairs) {
    labelled += fmt::format("{}\t{}\n", pair.english.size() < 30 ? "short" : "long", pair.english);
  }
  io::write_file(fs::path(prefix.string() + ".tsv"), labelled);
}

struct Corpus {
  Corpus() : prefix(folder / "g") {
    const GrammarCorpus pairs = grammar_corpus({.sentences = 60, .held_out = 8, .seed = 2});
    write_texts(prefix, pairs.training);
    write_texts(prefix.string() + ".test", pairs.held_out);
  }

  WorkFolder folder;
  fs::path prefix;
};

}  // namespace

WorkFolder::WorkFolder() {
  std::string pattern = (fs::temp_directory_path() / "heed-torture-XXXXXX").string();
  HEED_CHECK(::mkdtemp(pattern.data()) != nullptr, "[torture] cannot make a folder {}", pattern);
  path_ = pattern;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

const fs::path& small_corpus() {
  static const Corpus corpus;
  return corpus.prefix;
}

std::string bytes_of(const fs::path& path) { return io::read_file(path, std::size_t{1} << 30); }

}  // namespace heed::torture
