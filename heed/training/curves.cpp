#include "heed/training/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "heed/io/lines.h"
#include "heed/io/value.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrainHeader =
    "update,epoch,loss,perplexity,rate,norm,skipped,source_tokens,target_tokens,seconds";
constexpr std::string_view kValidHeader = "update,epoch,metric,value,best,seconds";
constexpr std::string_view kSampleHeader = "update,epoch,reward,entropy";
constexpr std::size_t kPerplexity = 3, kSkipped = 6;  // columns
constexpr std::size_t kMetric = 2, kValue = 3;        // columns of valid.csv
constexpr std::size_t kReward = 2, kEntropy = 3;      // columns of samples.csv
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

using Cells = std::vector<std::string_view>;

Cells split(std::string_view line) {
  Cells cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return {};
  return value;
}

// The content of a curve without the lines of later updates and without an incomplete last line.
std::string cut(const fs::path& path, std::string_view header, std::int64_t update) {
  std::string kept = fmt::format("{}\n", header);
  if (fs::exists(path)) {
    io::LineReader reader(path);
    std::string line;
    const bool ours = !reader.next(line) || line == header;
    HEED_CHECK(ours,
               "[train] {} is in the way: it does not begin with {}, as curves do; move it or give "
               "another folder",
               path.string(), header);
    const auto columns = std::ranges::count(header, ',');
    while (reader.next(line)) {
      const auto of = number<std::int64_t>(line.substr(0, line.find(',')));
      if (!of || *of > update || std::ranges::count(line, ',') != columns) break;
      kept += line + "\n";
    }
  }
  return kept;
}

// Calls `row` with the cells of every line after the header.
template <typename Row>
void read_rows(std::string_view text, const fs::path& file, std::string_view header, Row row) {
  const std::size_t columns = split(header).size();
  for (std::int64_t at = 1; !text.empty(); ++at) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return;  // it is still being written
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (at == 1) {
      HEED_CHECK(line == header, "[curves] {}:1: it must begin with {}, found {}", file.string(),
                 header, io::in_quotes(line));
      continue;
    }
    const Cells cells = split(line);
    HEED_CHECK(cells.size() == columns, "[curves] {}:{}: {} columns, where the header has {}",
               file.string(), at, cells.size(), columns);
    row(cells, at);
  }
}

CurvePoint point_of(const Cells& cells, std::size_t value, const fs::path& file, std::int64_t at) {
  const auto update = number<std::int64_t>(cells[0]);
  const auto epoch = number<double>(cells[1]), found = number<double>(cells[value]);
  HEED_CHECK(update && *update > 0 && epoch && std::isfinite(*epoch) && found,
             "[curves] {}:{}: update {}, epoch {}, value {}: these must be numbers", file.string(),
             at, io::in_quotes(cells[0]), io::in_quotes(cells[1]), io::in_quotes(cells[value]));
  return {*update, *epoch, *found};
}

}  // namespace

void CurveWriter::began(std::int64_t update) {
  const std::string training = cut(folder_ / kTrainCurve, kTrainHeader, update);
  const std::string validation = cut(folder_ / kValidCurve, kValidHeader, update);
  io::write_file(folder_ / kTrainCurve, training);  // both have been checked
  io::write_file(folder_ / kValidCurve, validation);
  if (fs::exists(folder_ / kSampleCurve)) {
    io::write_file(folder_ / kSampleCurve, cut(folder_ / kSampleCurve, kSampleHeader, update));
  }
  training_.emplace(folder_ / kTrainCurve);
  validation_.emplace(folder_ / kValidCurve);
}

void CurveWriter::updated(const UpdateReport& report) {
  HEED_ASSERT(training_);
  training_->write(fmt::format(
      "{},{:.7g},{:.7g},{:.7g},{:.7g},{:.7g},{},{},{},{:.4g}\n", report.update, report.epoch,
      report.loss, std::exp(report.negative_log_likelihood), report.rate, report.gradient_norm,
      report.skipped ? 1 : 0, report.source_tokens, report.target_tokens, report.seconds));
  if (const auto means = means_of(report.sampled)) sampled(report, *means);
}

void CurveWriter::sampled(const UpdateReport& report, const SampleMeans& means) {
  const fs::path path = folder_ / kSampleCurve;
  if (!samples_) {
    if (!fs::exists(path)) io::write_file(path, fmt::format("{}\n", kSampleHeader));
    samples_.emplace(path);
  }
  samples_->write(fmt::format("{},{:.7g},{:.7g},{:.7g}\n", report.update, report.epoch,
                              means.reward, means.entropy));
}

void CurveWriter::validated(const ValidationReport& report) {
  HEED_ASSERT(validation_);
  std::string rows;
  for (const Judgement& judgement : report.judgements) {
    rows += fmt::format("{},{:.7g},{},{:.7g},{},{:.4g}\n", report.update, report.epoch,
                        judgement.name, judgement.value, report.best ? 1 : 0, report.seconds);
  }
  validation_->write(rows);
}

Curves parse_curves(std::string_view training, std::string_view validation, const fs::path& folder,
                    std::string_view samples) {
  Curves curves;
  const fs::path train = folder / kTrainCurve, valid = folder / kValidCurve;
  read_rows(training, train, kTrainHeader, [&](const Cells& cells, std::int64_t at) {
    CurvePoint point = point_of(cells, kPerplexity, train, at);
    point.value = std::log(point.value);
    if (cells[kSkipped] == "0" && std::isfinite(point.value)) curves.training.push_back(point);
  });
  read_rows(validation, valid, kValidHeader, [&](const Cells& cells, std::int64_t at) {
    const CurvePoint point = point_of(cells, kValue, valid, at);
    auto curve = std::ranges::find(curves.validation, cells[kMetric], &Curve::metric);
    if (curve == curves.validation.end()) {
      curves.validation.push_back({std::string(cells[kMetric]), {}});
      curve = std::prev(curves.validation.end());
    }
    if (std::isfinite(point.value)) curve->points.push_back(point);
  });
  if (samples.empty()) return curves;
  curves.samples = {{"reward", {}}, {"entropy", {}}};
  const fs::path sampled = folder / kSampleCurve;
  read_rows(samples, sampled, kSampleHeader, [&](const Cells& cells, std::int64_t at) {
    for (const std::size_t column : {kReward, kEntropy}) {
      const CurvePoint point = point_of(cells, column, sampled, at);
      if (std::isfinite(point.value)) curves.samples[column - kReward].points.push_back(point);
    }
  });
  return curves;
}

Curves read_curves(const fs::path& folder) {
  const fs::path training = folder / kTrainCurve, validation = folder / kValidCurve;
  HEED_CHECK(fs::exists(training),
             "[curves] {} has no {}: give a folder that heed train has trained into",
             folder.string(), kTrainCurve);
  const auto read = [](const fs::path& path) {
    return fs::exists(path) ? io::read_file(path, kMostBytes) : std::string();
  };
  return parse_curves(read(training), read(validation), folder, read(folder / kSampleCurve));
}

}  // namespace heed
