// The flags of verbs that read parallel text.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "heed/data/parallel_text.h"

namespace heed::cli {

struct PairFlags {
  std::string source, target;  // target empty: columns of source
  TextColumns columns;
  std::string on_bad = "stop";

  ParallelText open() const;
};

void add_pair_flags(CLI::App& verb, PairFlags& flags);

}  // namespace heed::cli
