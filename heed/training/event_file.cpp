#include "heed/training/event_file.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <system_error>

#include "heed/base/error.h"

namespace heed {
namespace {

// CRC-32C (Castagnoli), polynomial 0x1edc6f41, lowest bit first.
constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[i] = crc;
  }
  return table;
}();

// Records store the checksum rotated and with an offset added, so that checksums of data that
// contains checksums remain good.
std::uint32_t masked_crc(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return std::rotr(~crc, 15) + 0xa282ead8u;
}

template <typename T>
void put_fixed(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::string record(std::string_view data) {
  std::string out;
  put_fixed<std::uint64_t>(out, data.size());
  put_fixed(out, masked_crc(out));
  out += data;
  put_fixed(out, masked_crc(data));
  return out;
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

// The wire types of protobuf fields.
enum Wire : std::uint8_t { kVarint = 0, kDouble = 1, kBytes = 2, kFloat = 5 };

void put_tag(std::string& out, std::uint64_t field, Wire wire) {
  put_varint(out, field << 3 | wire);
}

void put_bytes(std::string& out, std::uint64_t field, std::string_view bytes) {
  put_tag(out, field, kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

// Event: wall_time = 1, step = 2, followed by its kind: file_version = 3, summary = 5, session_log
// = 7.
std::string event_record(const Event& event, std::uint64_t kind, std::string_view content) {
  std::string out;
  put_tag(out, 1, kDouble);
  put_fixed(out, std::bit_cast<std::uint64_t>(event.wall_time));
  if (event.step != 0) {
    put_tag(out, 2, kVarint);
    put_varint(out, static_cast<std::uint64_t>(event.step));
  }
  put_bytes(out, kind, content);
  return record(out);
}

Event now(std::int64_t step) {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(time).count(), step};
}

}  // namespace

std::string version_record(const Event& event) { return event_record(event, 3, "brain.Event:2"); }

std::string restart_record(const Event& event) {
  std::string log;  // SessionLog: status = 1, where START is 1
  put_tag(log, 1, kVarint);
  put_varint(log, 1);
  return event_record(event, 7, log);
}

std::string scalar_record(const Event& event, std::string_view tag, double value) {
  std::string inner;  // Summary.Value: tag = 1, simple_value = 2
  put_bytes(inner, 1, tag);
  put_tag(inner, 2, kFloat);
  put_fixed(inner, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  std::string summary;  // Summary: value = 1
  put_bytes(summary, 1, inner);
  return event_record(event, 5, summary);
}

void EventWriter::began(std::int64_t update) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  HEED_CHECK(!error, "[train] cannot make the folder {}: {}", folder_.string(), error.message());
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  // TensorBoard finds its files by "tfevents" and reads them in the order of their names.
  const Event first = now(0);
  file_.emplace(folder_ / fmt::format("events.out.tfevents.{:.6f}.{}.{}", first.wall_time,
                                      host.data(), ::getpid()));
  file_->write(version_record(first));
  if (update > 0) file_->write(restart_record(now(update + 1)));
}

void EventWriter::updated(const UpdateReport& report) {
  window_.add(report);
  if (report.update % every_ != 0 || window_.empty()) return;
  const UpdateWindow::Mean mean = window_.take();
  const Event event = now(report.update);
  const std::pair<const char*, double> scalars[] = {
      {"train/loss", mean.loss},
      {"train/perplexity", mean.perplexity},
      {"train/rate", report.rate},
      {"train/norm", report.gradient_norm},
      {"train/skipped", static_cast<double>(mean.skipped)},
      {"train/epoch", report.epoch},
      {"train/source_tokens_per_second", mean.source_rate},
      {"train/target_tokens_per_second", mean.target_rate}};
  for (const auto& [tag, value] : scalars) file_->write(scalar_record(event, tag, value));
  if (!mean.sampled) return;
  file_->write(scalar_record(event, "train/reward", mean.sampled->reward));
  file_->write(scalar_record(event, "train/entropy", mean.sampled->entropy));
}

void EventWriter::validated(const ValidationReport& report) {
  for (const Judgement& judgement : report.judgements) {
    file_->write(scalar_record(now(report.update), "valid/" + judgement.name, judgement.value));
  }
}

}  // namespace heed
