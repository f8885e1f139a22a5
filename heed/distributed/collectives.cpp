#include "heed/distributed/collectives.h"

#include <algorithm>
#include <exception>
#include <map>

#include "heed/base/interrupt.h"

namespace heed {
namespace {

// How the work of a rank ended; the first letter of what it tells the others.
constexpr char kDone = 'd', kInterrupted = 'i', kFailed = 'f';

// The lines of a text by their keys.
std::map<std::string_view, std::string_view> parsed_lines(std::string_view text) {
  std::map<std::string_view, std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = line.find(" = ");
    if (equals != line.npos) lines[line.substr(0, equals)] = line.substr(equals + 3);
  }
  return lines;
}

// "batch_tokens is 2048 instead of 4096, …", at most a few.
std::string differences(std::string_view first, std::string_view other) {
  constexpr int kMost = 5;
  const auto expected = parsed_lines(first), found = parsed_lines(other);
  std::string text;
  int count = 0;
  const auto tell = [&](std::string_view key, std::string_view is, std::string_view instead) {
    if (++count <= kMost) {
      text += fmt::format("{}{} is {} instead of {}", text.empty() ? "" : ", ", key, is, instead);
    }
  };
  for (const auto& [key, value] : expected) {
    const auto at = found.find(key);
    if (at == found.end()) {
      tell(key, "absent", value);
    } else if (at->second != value) {
      tell(key, at->second, value);
    }
  }
  for (const auto& [key, value] : found) {
    if (!expected.contains(key)) tell(key, value, "absent");
  }
  if (count > kMost) text += fmt::format(" and {} more", count - kMost);
  return text;
}

}  // namespace

std::vector<std::string> gather_texts(Communicator& ranks, std::string_view own) {
  const std::vector<std::size_t> sizes = gather_values(ranks, own.size());
  const std::vector<char> all = gather_values(ranks, std::span<const char>(own), sizes);
  std::vector<std::string> texts;
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    texts.emplace_back(all.data() + at, size);
    at += size;
  }
  return texts;
}

std::string text_of_first(Communicator& ranks, std::string_view own) {
  return gather_texts(ranks, ranks.is_first() ? own : std::string_view()).front();
}

bool holds_everywhere(Communicator& ranks, bool here) {
  if (ranks.size() == 1) return here;
  return std::ranges::all_of(gather_values(ranks, static_cast<char>(here ? 1 : 0)),
                             [](char flag) { return flag != 0; });
}

void together(Communicator& ranks, FunctionRef<void()> work) {
  if (ranks.size() == 1) return work();
  std::string end(1, kDone);
  try {
    work();
  } catch (const Interrupted&) {
    end = std::string(1, kInterrupted);
  } catch (const std::exception& error) {
    end = kFailed + std::string(error.what());
  }
  const std::vector<std::string> ends = gather_texts(ranks, end);
  // A mistake that all ranks made needs no names.
  const bool is_same = std::ranges::all_of(ends, [&](const auto& e) { return e == ends[0]; });
  if (is_same && ends[0][0] == kFailed) throw SharedError(ends[0].substr(1));
  std::string failures;
  for (int r = 0; r < ranks.size(); ++r) {
    const std::string& one = ends[static_cast<std::size_t>(r)];
    if (one[0] != kFailed) continue;
    failures +=
        fmt::format("{}{}: {}", failures.empty() ? "" : "\n", ranks.name_of(r), one.substr(1));
  }
  if (!failures.empty()) throw SharedError(failures);
  if (std::ranges::any_of(ends, [](const auto& e) { return e[0] == kInterrupted; })) {
    throw Interrupted();
  }
}

void check_same(Communicator& ranks, std::string_view lines, std::string_view remedy) {
  if (ranks.size() == 1) return;
  const std::vector<std::string> all = gather_texts(ranks, lines);
  std::string found;
  for (int r = 1; r < ranks.size(); ++r) {
    const std::string& one = all[static_cast<std::size_t>(r)];
    if (one == all[0]) continue;
    found += fmt::format("{}{}: {}", found.empty() ? "" : "; ", ranks.name_of(r),
                         differences(all[0], one));
  }
  if (found.empty()) return;
  throw SharedError(fmt::format("[ranks] differ from {}: {}: {}", ranks.name_of(0), found, remedy));
}

}  // namespace heed
