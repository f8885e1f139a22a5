#include "benchmarks/models/peer_file.h"

#include <cstdlib>

#include "heed/base/error.h"

namespace heed::bench {

PeerFile::PeerFile(TrainedModel& model) {
  std::string name = (std::filesystem::temp_directory_path() / "heed-bench-XXXXXX").string();
  HEED_CHECK(mkdtemp(name.data()) != nullptr, "[bench] {} cannot be made", name);
  folder_ = name;
  model.save(path());
}

PeerFile::~PeerFile() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace heed::bench
