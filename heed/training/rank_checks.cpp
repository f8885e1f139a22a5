#include "heed/training/rank_checks.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>

#include "heed/base/isa.h"
#include "heed/base/version.h"
#include "heed/data/packed_pairs.h"
#include "heed/data/packed_text.h"
#include "heed/distributed/collectives.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/io/fingerprint.h"
#include "heed/io/paths.h"

namespace heed {
namespace {

void add_tree(io::Fingerprint& print, const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    std::vector<std::filesystem::path> entries = io::list_folder(path);
    std::ranges::sort(entries);
    for (const std::filesystem::path& entry : entries) {
      const std::string name = entry.filename().string();
      print.add(std::as_bytes(std::span(name)));
      add_tree(print, entry);
    }
    return;
  }
  const auto file = io::MappedFile::open(path);
  print.mix(file->bytes().size());
  print.add(file->bytes());
}

std::string content_of(const std::string& path) {
  if (!std::filesystem::exists(path)) return "not there";
  // The files of a packed corpus may be too large to be read; their checksums stand for them.
  if (is_packed(path)) return fmt::format("{:016x}", PackedPairs(path).fingerprint());
  if (is_packed_text(path)) return fmt::format("{:016x}", PackedText(path).fingerprint());
  io::Fingerprint print;
  add_tree(print, path);
  return fmt::format("{:016x}", print.value());
}

}  // namespace

void check_same_start(Communicator& ranks, const TrainConfig& config) {
  if (ranks.size() == 1) return;
  std::string lines;
  together(ranks, [&] {
    lines += fmt::format("heed's version = {}\n", version());
    lines += fmt::format("the instruction set = {}\n", name_of(current_isa()));
    for (const io::FieldInfo& field : io::list_fields(config)) {
      if (field.path != "cpu_threads") lines += fmt::format("{} = {}\n", field.path, field.value);
    }
    for (const auto* const files :
         {&config.train_sets, &config.valid_sets, &config.vocabs, &config.validation.references}) {
      for (const std::string& path : *files) {
        lines += fmt::format("the content of {} = {}\n", path, content_of(path));
      }
    }
    if (!config.start_from.empty()) {
      lines +=
          fmt::format("the content of {} = {}\n", config.start_from, content_of(config.start_from));
    }
  });
  check_same(
      ranks, lines,
      "equal bits need the same heed, config, data and instruction set on all (HEED_ISA sets "
      "the last, such as HEED_ISA=avx2)");
}

void check_shared_folder(Communicator& ranks, const std::filesystem::path& folder) {
  if (ranks.size() == 1) return;
  const std::filesystem::path probe = folder / ".heed-shared";
  const std::string token = text_of_first(
      ranks, fmt::format("{} {}", ranks.name_of(0),
                         std::chrono::system_clock::now().time_since_epoch().count()));
  together(ranks, [&] {
    if (ranks.is_first()) io::write_file(probe, token);
  });
  together(ranks, [&] {
    // Network file systems may show a new file after some seconds.
    for (int attempt = 0; attempt < 50; ++attempt) {
      if (std::filesystem::exists(probe) && io::read_file(probe, 1 << 16) == token) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    fail(
        "[ranks] {} is not the folder that {} writes into: all ranks resume from it, so it must be "
        "on a file system that they share",
        folder.string(), ranks.name_of(0));
  });
  if (ranks.is_first()) std::filesystem::remove(probe);
}

void check_same_parameters(Communicator& ranks, const Module& model) {
  if (ranks.size() == 1) return;
  io::Fingerprint print;
  for (const NamedTensor& parameter : model.named_parameters()) {
    print.add(std::as_bytes(std::span(parameter.name)));
    const Tensor& tensor = parameter.tensor;
    const auto size = static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype());
    if (!tensor.contiguous()) continue;
    const std::int64_t offset =
        tensor.offset() * static_cast<std::int64_t>(size_of(tensor.dtype()));
    print.add({tensor.storage()->data() + offset, size});
  }
  check_same(ranks, fmt::format("the model at the start = {:016x}\n", print.value()),
             "give all ranks the same data and the same build of heed");
}

}  // namespace heed
