// What the writers of packed corpora share: numbers and tokens as bytes, checksums, and files that
// follow each other.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/io/fingerprint.h"

namespace heed::packed {

template <typename T>
void append_number(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A token takes 2 or 4 bytes.
inline void append_token(std::string& bytes, std::int32_t token, std::uint32_t token_bytes) {
  token_bytes == 2 ? append_number(bytes, static_cast<std::uint16_t>(token))
                   : append_number(bytes, token);
}

inline std::uint64_t checksum_of(const std::string& bytes) {
  return io::fingerprint(std::as_bytes(std::span(bytes)));
}

/// The files of a corpus, of which one is written at a time. `File` has
///
///   std::uint64_t finish();  // completes the file and returns its checksum
template <typename File>
class FileSequence {
 public:
  /// The name of file i is name_of(i).
  FileSequence(std::filesystem::path folder, std::string (*name_of)(std::int64_t))
      : folder_(std::move(folder)), name_of_(name_of) {}

  /// The file that is being written. If there is none, the next one is made of its path and the
  /// arguments.
  template <typename... Arguments>
  File& current(const Arguments&... arguments) {
    if (!file_) file_.emplace(folder_ / name_of_(std::ssize(checksums_)), arguments...);
    return *file_;
  }

  void finish_file() {
    if (!file_) return;
    checksums_.push_back(fmt::format("{:016x}", file_->finish()));
    file_.reset();
  }

  /// Completes the last file and returns the checksums of all.
  std::vector<std::string> finish() {
    finish_file();
    return std::move(checksums_);
  }

 private:
  std::filesystem::path folder_;
  std::string (*name_of_)(std::int64_t);
  std::optional<File> file_;
  std::vector<std::string> checksums_;
};

}  // namespace heed::packed
