// The records, all little endian: local header and bytes of each entry, the central directory, for
// zip64 a second end record and its locator, the end record.
#include "heed/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

#include "heed/io/byte_reader.h"
#include "heed/io/value.h"

namespace heed::io {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kCentralSignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocatorSignature = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56,
                      kLocatorBytes = 20;
constexpr std::size_t kMaxCommentBytes = 65535;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the value is in the zip64 field
constexpr std::uint16_t kEncrypted = 1, kSizesFollow = 8;

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> file, std::string_view format, std::string_view source)
      : file_(file), format_(format), source_(source) {}

  std::vector<ZipEntry> run() {
    read_end();
    ByteReader reader = at(directory_begin_, directory_size_);
    if (count_ > directory_size_ / kCentralBytes) {
      reader.refuse("the central directory has {} bytes, too few for {} entries", directory_size_,
                    count_);
    }
    for (std::uint64_t i = 0; i < count_; ++i) read_entry(reader);
    if (reader.left() != 0) reader.refuse("{} bytes follow the last entry", reader.left());
    check_overlaps();
    std::vector<ZipEntry> entries;
    for (const Found& found : found_) entries.push_back(found.entry);
    check_names(entries);
    return entries;
  }

 private:
  // An entry, and the bytes of its local header and data.
  struct Found {
    ZipEntry entry;
    std::uint64_t begin;
    std::uint64_t end;
  };

  ByteReader at(std::uint64_t begin, std::uint64_t size) const {
    return {file_.subspan(begin, size), format_, source_, static_cast<std::size_t>(begin)};
  }
  ByteReader from(std::uint64_t begin) const { return at(begin, file_.size() - begin); }

  std::uint32_t signature_at(std::size_t byte) const {
    std::uint32_t value = 0;
    std::memcpy(&value, file_.data() + byte, sizeof value);
    return value;
  }

  // The end record is the last one whose comment ends with the file.
  std::size_t find_end() const {
    HEED_CHECK(file_.size() >= kEndBytes, "[{}] {}: {} bytes long: a zip archive has at least {}",
               format_, source_, file_.size(), kEndBytes);
    const std::size_t last = file_.size() - kEndBytes;
    const std::size_t first = last - std::min(last, kMaxCommentBytes);
    for (std::size_t byte = last + 1; byte-- > first;) {
      if (signature_at(byte) != kEndSignature) continue;
      std::uint16_t comment = 0;
      std::memcpy(&comment, file_.data() + byte + 20, sizeof comment);
      if (byte + kEndBytes + comment == file_.size()) return byte;
    }
    fail("[{}] {}: the zip archive has no end record: the file is cut off", format_, source_);
  }

  void read_end() {
    const std::size_t end = find_end();
    ByteReader reader = from(end);
    reader.take(4, "a signature");
    const auto disk = reader.number<std::uint16_t>("a number");
    const auto first_disk = reader.number<std::uint16_t>("a number");
    const auto here = reader.number<std::uint16_t>("a number");
    count_ = reader.number<std::uint16_t>("a number");
    directory_size_ = reader.number<std::uint32_t>("a number");
    directory_begin_ = reader.number<std::uint32_t>("a number");
    std::uint64_t limit = end;  // where the directory must end at the latest
    if (end >= kLocatorBytes && signature_at(end - kLocatorBytes) == kLocatorSignature) {
      limit = read_end64(end - kLocatorBytes);
    } else if (disk != 0 || first_disk != 0 || here != count_) {
      reader.refuse_at(end, "the archive has several parts, which heed does not read");
    }
    if (directory_begin_ > limit || directory_size_ > limit - directory_begin_) {
      reader.refuse_at(end, "the central directory of {} bytes at byte {} reaches beyond byte {}",
                       directory_size_, directory_begin_, limit);
    }
  }

  // Reads the 64-bit fields and returns the position of their record.
  std::uint64_t read_end64(std::size_t locator) {
    ByteReader link = from(locator);
    link.take(8, "a signature and a number");
    const auto begin = link.number<std::uint64_t>("a number");
    if (begin > locator || locator - begin < kEnd64Bytes ||
        signature_at(begin) != kEnd64Signature) {
      link.refuse_at(locator, "the zip64 locator names byte {}, where no end record is", begin);
    }
    ByteReader reader = from(begin);
    reader.take(24, "signature, size, versions and part numbers");
    const auto here = reader.number<std::uint64_t>("a number");
    count_ = reader.number<std::uint64_t>("a number");
    directory_size_ = reader.number<std::uint64_t>("a number");
    directory_begin_ = reader.number<std::uint64_t>("a number");
    if (here != count_) {
      reader.refuse_at(begin, "the archive has several parts, which heed does not read");
    }
    return begin;
  }

  void read_entry(ByteReader& reader) {
    const std::size_t byte = reader.file_byte();
    if (reader.number<std::uint32_t>("an entry of the central directory") != kCentralSignature) {
      reader.refuse_at(byte, "an entry of the central directory must begin here");
    }
    reader.take(4, "versions");
    const auto flags = reader.number<std::uint16_t>("flags");
    const auto method = reader.number<std::uint16_t>("a method");
    reader.take(4, "a time");
    Found found{};
    found.entry.crc = reader.number<std::uint32_t>("a checksum");
    std::uint64_t packed = reader.number<std::uint32_t>("a size");
    std::uint64_t size = reader.number<std::uint32_t>("a size");
    const auto name_size = reader.number<std::uint16_t>("a length");
    const auto extra_size = reader.number<std::uint16_t>("a length");
    const auto comment_size = reader.number<std::uint16_t>("a length");
    reader.take(8, "part number and attributes");
    found.begin = reader.number<std::uint32_t>("an offset");
    found.entry.name = reader.text(name_size, "a name");
    const std::size_t extra_byte = reader.file_byte();
    const auto extra = reader.take(extra_size, "extra fields");
    reader.take(comment_size, "a comment");
    const std::string name = in_quotes(found.entry.name);
    if ((flags & kEncrypted) != 0) reader.refuse_at(byte, "entry {} is encrypted", name);
    if (method != 0) {
      reader.refuse_at(byte,
                       "entry {} is compressed (method {}): heed reads stored entries, as "
                       "torch.save writes them; save the file again with torch.save",
                       name, method);
    }
    if (size == kIn64 || packed == kIn64 || found.begin == kIn64) {
      ByteReader fields(extra, format_, source_, extra_byte);
      read_extra64(fields, {&size, &packed, &found.begin});
    }
    if (size != packed) {
      reader.refuse_at(byte, "entry {} is stored, but its sizes {} and {} differ", name, packed,
                       size);
    }
    find_bytes(found, size, flags);
    found_.push_back(found);
  }

  // The zip64 field holds, in this order, the values that do not fit into 32 bits.
  void read_extra64(ByteReader& fields, std::initializer_list<std::uint64_t*> values) const {
    while (fields.left() > 0) {
      const auto id = fields.number<std::uint16_t>("the id of an extra field");
      const auto size = fields.number<std::uint16_t>("the length of an extra field");
      const std::size_t byte = fields.file_byte();
      const auto content = fields.take(size, "an extra field");
      if (id != 1) continue;
      ByteReader field(content, format_, source_, byte);
      for (std::uint64_t* value : values) {
        if (*value == kIn64) *value = field.number<std::uint64_t>("a zip64 value");
      }
      return;
    }
    fields.refuse("the zip64 field is missing");
  }

  // The local header repeats the name; its length says where the bytes begin.
  void find_bytes(Found& found, std::uint64_t size, std::uint16_t flags) const {
    const std::string name = in_quotes(found.entry.name);
    HEED_CHECK(found.begin <= directory_begin_ && directory_begin_ - found.begin >= kLocalBytes,
               "[{}] {}: entry {} begins at byte {}, after the entries end at byte {}", format_,
               source_, name, found.begin, directory_begin_);
    ByteReader reader = at(found.begin, directory_begin_ - found.begin);
    const bool signed_ = reader.number<std::uint32_t>("a local header") == kLocalSignature;
    reader.take(4, "version and flags");
    const auto method = reader.number<std::uint16_t>("a method");
    reader.take(8, "time and checksum");
    const auto packed = reader.number<std::uint32_t>("a size");
    const auto unpacked = reader.number<std::uint32_t>("a size");
    const auto name_size = reader.number<std::uint16_t>("a length");
    const auto extra_size = reader.number<std::uint16_t>("a length");
    const std::string_view local_name = reader.text(name_size, "a name");
    reader.take(extra_size, "extra fields");
    const auto agrees = [&](std::uint32_t local) {
      return local == size || local == kIn64 || (flags & kSizesFollow) != 0;
    };
    HEED_CHECK(signed_ && method == 0 && local_name == found.entry.name && agrees(packed) &&
                   agrees(unpacked),
               "[{}] {}: the local header of entry {} at byte {} differs from the central "
               "directory: the file is damaged",
               format_, source_, name, found.begin);
    found.entry.bytes = reader.take(size, fmt::format("entry {}", name));
    found.end = reader.file_byte();
  }

  void check_overlaps() {
    std::sort(found_.begin(), found_.end(),
              [](const Found& a, const Found& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < found_.size(); ++i) {
      HEED_CHECK(found_[i - 1].end <= found_[i].begin,
                 "[{}] {}: entry {} begins at byte {}, inside entry {}, which ends at byte {}",
                 format_, source_, in_quotes(found_[i].entry.name), found_[i].begin,
                 in_quotes(found_[i - 1].entry.name), found_[i - 1].end);
    }
  }

  void check_names(std::vector<ZipEntry>& entries) const {
    std::sort(entries.begin(), entries.end(),
              [](const ZipEntry& a, const ZipEntry& b) { return a.name < b.name; });
    const auto twice =
        std::adjacent_find(entries.begin(), entries.end(),
                           [](const ZipEntry& a, const ZipEntry& b) { return a.name == b.name; });
    HEED_CHECK(twice == entries.end(), "[{}] {}: entry {} occurs twice", format_, source_,
               in_quotes(twice->name));
  }

  std::span<const std::byte> file_;
  std::string_view format_;
  std::string_view source_;
  std::uint64_t count_ = 0;
  std::uint64_t directory_begin_ = 0;
  std::uint64_t directory_size_ = 0;
  std::vector<Found> found_;
};

}  // namespace

ZipArchive ZipArchive::parse(std::span<const std::byte> bytes, std::string_view format,
                             std::string_view source) {
  ZipArchive archive;
  archive.entries_ = ZipReader(bytes, format, source).run();
  archive.format_ = format;
  archive.source_ = source;
  return archive;
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto it =
      std::lower_bound(entries_.begin(), entries_.end(), name,
                       [](const ZipEntry& entry, std::string_view n) { return entry.name < n; });
  return it != entries_.end() && it->name == name ? &*it : nullptr;
}

void ZipArchive::check_crc(const ZipEntry& entry) const {
  const auto* data = reinterpret_cast<const Bytef*>(entry.bytes.data());
  const auto crc = ::crc32_z(::crc32_z(0, nullptr, 0), data, entry.bytes.size());
  HEED_CHECK(crc == entry.crc, "[{}] {}: the checksum of entry {} is wrong: the file is damaged",
             format_, source_, in_quotes(entry.name));
}

}  // namespace heed::io
