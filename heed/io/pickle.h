// A reader of Python pickles that executes nothing. It knows the opcodes with which torch.save
// writes dicts, tuples, lists, numbers and texts (protocols 2 to 5), and only the globals that the
// caller lists. A call of a global is returned as a call, not made. Every other opcode or global is
// refused by its name and byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::io {

/// A global that a pickle may name.
struct PickleGlobal {
  enum class Use : std::uint8_t {
    value,  ///< It may be named.
    call,   ///< It may be named and called.
    dict,   ///< A call gives a dict, e.g. collections.OrderedDict.
  };
  std::string_view module;
  std::string_view name;
  Use use = Use::value;
};

enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,
  real,
  text,
  bytes,
  tuple,
  list,
  dict,        ///< Keys and values in turn.
  global,      ///< The position in the list of globals is its integer.
  call,        ///< Two items: the global, the tuple of arguments.
  persistent,  ///< One item: the id that names an object outside the pickle.
};

/// The word for messages: "a tuple", "an integer", …
std::string_view describe(PickleKind kind);

struct PickleNode;

/// A value. Texts point into the pickle, nodes into the Pickle object.
struct PickleItem {
  explicit PickleItem(PickleKind k = PickleKind::none) : kind(k) {}

  PickleKind kind;
  std::uint32_t size = 0;  ///< Of text and bytes.
  union {
    std::int64_t integer = 0;  ///< Also 0 or 1 for boolean.
    double real;
    const char* chars;
    PickleNode* node;
  };

  std::string_view text() const { return {chars, size}; }
};

/// The items of a tuple, list, dict, call or persistent id.
struct PickleNode {
  std::vector<PickleItem> items;
  std::size_t byte = 0;  ///< Where it was made, in the file.
};

/// A pickle that was read. Nodes may contain each other.
class Pickle {
 public:
  /// Reads one pickle from the start of the bytes. `source` and `base`, the position of the first
  /// byte in the file, are for messages.
  Pickle(std::span<const std::byte> bytes, std::span<const PickleGlobal> globals,
         std::string_view source, std::size_t base);

  const PickleItem& root() const { return root_; }
  /// The number of bytes of the pickle.
  std::size_t size() const { return size_; }

 private:
  friend class PickleMachine;
  std::deque<PickleNode> nodes_;  // addresses stay the same as it grows
  PickleItem root_;
  std::size_t size_ = 0;
};

}  // namespace heed::io
