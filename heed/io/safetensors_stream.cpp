// The temporary file of the data is unlinked as soon as it is open, so that nothing is left of it
// however the process ends.
#include "heed/io/safetensors_stream.h"

#include <sys/mman.h>
#include <unistd.h>

#include <tuple>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/descriptor.h"
#include "heed/io/paths.h"

namespace heed::io {
namespace {

namespace fs = std::filesystem;

// Maps the temporary file of the data.
class Mapping {
 public:
  Mapping(int descriptor, std::size_t size, const fs::path& target) : size_(size) {
    if (size == 0) return;  // mmap does not accept length 0
    data_ = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data_ == MAP_FAILED) fail_with_errno("map the data of", target);
  }
  ~Mapping() {
    if (size_ > 0) ::munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  const std::byte* data() const { return static_cast<const std::byte*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t size_;
};

}  // namespace

SafetensorsStream::SafetensorsStream(fs::path target) : target_(std::move(target)) {
  HEED_CHECK(target_.has_filename() && !is_folder(target_),
             "[safetensors] cannot write to '{}': it is not a file name", target_.string());
  descriptor_ = open_unnamed(directory_of(target_));
  if (descriptor_ >= 0) return;
  fs::path temporary;
  std::tie(descriptor_, temporary) = open_temporary(directory_of(target_));
  ::unlink(temporary.c_str());
}

SafetensorsStream::~SafetensorsStream() { ::close(descriptor_); }

void SafetensorsStream::add(const SafetensorsItem& item) {
  entries_.push_back({{item.name, item.type, item.shape, {}}, end_, item.bytes.size()});
  write_all(descriptor_, item.bytes, target_);
  end_ += item.bytes.size();
}

void SafetensorsStream::commit(const Metadata& metadata) {
  const Mapping mapping(descriptor_, end_, target_);
  std::vector<SafetensorsItem> items;
  for (const auto& [item, begin, size] : entries_) {
    items.push_back(item);
    if (size > 0) items.back().bytes = {mapping.data() + begin, size};
  }
  write_safetensors(target_, items, metadata);
}

}  // namespace heed::io
