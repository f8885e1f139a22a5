#include "cli/ranked_filter.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/distributed/collectives.h"
#include "heed/io/file.h"
#include "heed/io/paths.h"

namespace heed::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIdentity = "identity";
constexpr std::size_t kMostIdentity = std::size_t{1} << 20;

// The folder of the parts; those of another input or other flags are removed.
fs::path prepare_parts(Communicator& ranks, const RankedFilter& filter) {
  const fs::path folder = filter.files.output + ".parts";
  together(ranks, [&] {
    HEED_CHECK(filter.files.input != "-" && filter.files.output != "-",
               "[ranks] several ranks read and write files: give them with -i and -o");
    if (!ranks.is_first()) return;
    const std::string identity =
        fmt::format("{}\nblock {}\n{} {} {}\n", filter.identity, filter.block, filter.files.input,
                    fs::file_size(filter.files.input),
                    fs::last_write_time(filter.files.input).time_since_epoch().count());
    const fs::path known = folder / kIdentity;
    if (fs::exists(known) && io::read_file(known, kMostIdentity) == identity) return;
    io::remove_tree(folder);
    fs::create_directories(folder);
    io::write_file(known, identity);
  });
  return folder;
}

fs::path part_of(const fs::path& folder, std::int64_t block) {
  return folder / fmt::format("{:08}", block);
}

// Lines with their numbers; one line can be looked at before it is taken.
class NumberedLines {
 public:
  explicit NumberedLines(const FilterFlags& files) : lines_(files.input, files.policy()) { read(); }
  /// The number of the next line, from 0; -1 at the end.
  std::int64_t number() const { return has_line_ ? number_ : -1; }
  std::string take() {
    std::string line = std::move(line_);
    ++number_;
    read();
    return line;
  }
  std::string describe_bad() const { return lines_.describe_bad(); }

 private:
  void read() { has_line_ = lines_.next(line_); }

  TextLines lines_;
  std::string line_;
  bool has_line_ = false;
  std::int64_t number_ = 0;
};

}  // namespace

void run_ranked_filter(Communicator& ranks, const RankedFilter& filter) {
  const fs::path folder = prepare_parts(ranks, filter);
  std::int64_t blocks = 0;
  together(ranks, [&] {
    NumberedLines lines(filter.files);
    for (; lines.number() >= 0; ++blocks) {
      const std::int64_t end = (blocks + 1) * filter.block;
      const auto next = [&](std::string& line) {
        if (lines.number() < 0 || lines.number() >= end) return false;
        line = lines.take();
        return true;
      };
      const fs::path part = part_of(folder, blocks);
      if (blocks % ranks.size() == ranks.rank() && !fs::exists(part)) {
        io::AtomicFile file(part);
        filter.run(blocks * filter.block, next, [&](std::string_view text) { file.write(text); });
        file.commit();
      }
      for (std::string line; next(line);) check_signals();
    }
    if (ranks.is_first() && !lines.describe_bad().empty()) {
      print_note("bad lines: " + lines.describe_bad());
    }
  });
  if (!ranks.is_first()) return;
  Output output(filter.files.output);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto part = io::MappedFile::open(part_of(folder, block));
    output.write({reinterpret_cast<const char*>(part->bytes().data()), part->bytes().size()});
  }
  output.commit();
  io::remove_tree(folder);
}

}  // namespace heed::cli
