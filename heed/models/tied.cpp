#include "heed/models/tied.h"

#include "heed/base/error.h"

namespace heed {

void check_tied(const char* model, Tied tied, const VocabularySizes& sizes) {
  const bool known = sizes.source > 0 && sizes.target > 0;
  HEED_CHECK(!shares_embeddings(tied) || !known || sizes.source == sizes.target,
             "[{}] tied = \"{}\" with vocabularies of {} and {}: share one vocabulary, or use "
             "tied = \"{}\"",
             model, io::enum_name(tied), sizes.source, sizes.target,
             tied == Tied::three ? "two" : "none");
}

}  // namespace heed
