#include "heed/io/pickle.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <unordered_map>

#include "heed/io/byte_reader.h"
#include "heed/io/value.h"

namespace heed::io {
namespace {

// Bounds the memory: an opcode of one byte makes an item of 16 bytes or a node. The pickle of a
// file of 100,000 tensors has 3 million opcodes.
constexpr std::size_t kMaxPickleOpcodes = 4'000'000;

// Opcodes that a pickle may have but heed refuses, for messages.
std::string_view name_of_opcode(std::uint8_t code) {
  switch (code) {
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 0x81:
      return "NEWOBJ";
    case 0x92:
      return "NEWOBJ_EX";
    case 0x82:
    case 0x83:
    case 0x84:
      return "EXT";
    case 'P':
      return "PERSID";
    case 'I':
      return "INT";
    case 'L':
      return "LONG";
    case 0x8b:
      return "LONG4";
    case 'F':
      return "FLOAT";
    case 'S':
      return "STRING";
    case 'V':
      return "UNICODE";
    case 'd':
      return "DICT";
    case 'l':
      return "LIST";
    case 'g':
      return "GET";
    case 'p':
      return "PUT";
    case '1':
      return "POP_MARK";
    case '2':
      return "DUP";
    case 0x8d:
      return "BINUNICODE8";
    case 0x8e:
      return "BINBYTES8";
    case 0x8f:
      return "EMPTY_SET";
    case 0x90:
      return "ADDITEMS";
    case 0x91:
      return "FROZENSET";
    case 0x96:
      return "BYTEARRAY8";
    case 0x97:
      return "NEXT_BUFFER";
    case 0x98:
      return "READONLY_BUFFER";
    default:
      return "unknown";
  }
}

}  // namespace

std::string_view describe(PickleKind kind) {
  constexpr std::string_view kWords[] = {"None",     "a bool",   "an integer", "a float",
                                         "a string", "bytes",    "a tuple",    "a list",
                                         "a dict",   "a global", "a call",     "a persistent id"};
  return kWords[static_cast<std::size_t>(kind)];
}

// The stack machine. The stack holds items; a mark is a position in it.
class PickleMachine {
 public:
  PickleMachine(Pickle& pickle, std::span<const std::byte> bytes,
                std::span<const PickleGlobal> globals, std::string_view source, std::size_t base)
      : pickle_(pickle), globals_(globals), reader_(bytes, "torch", source, base) {}

  void run() {
    for (std::size_t count = 0;; ++count) {
      opcode_byte_ = reader_.file_byte();
      if (count == kMaxPickleOpcodes) refuse("the pickle has more than {} opcodes", count);
      const auto code = reader_.number<std::uint8_t>("an opcode of the pickle");
      if (count == 0 && code != 0x80) refuse("a pickle begins with its protocol, opcode 0x80");
      if (code == '.') break;
      if (!literal(code) && !container(code) && !memory(code) && !object(code)) {
        refuse("opcode 0x{:02x} ({}) is not allowed: heed reads tensors and plain values only",
               code, name_of_opcode(code));
      }
    }
    if (stack_.size() != 1 || !marks_.empty()) {
      refuse("the pickle ends with {} items on its stack and {} marks: one item is expected",
             stack_.size(), marks_.size());
    }
    pickle_.root_ = stack_.back();
    pickle_.size_ = reader_.at();
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    reader_.refuse_at(opcode_byte_, format, std::forward<Args>(args)...);
  }

  // Numbers, texts and constants.
  bool literal(std::uint8_t code) {
    switch (code) {
      case 0x80: {  // PROTO
        const auto protocol = reader_.number<std::uint8_t>("a protocol");
        if (protocol < 2 || protocol > 5) refuse("protocol {}: heed reads 2 to 5", protocol);
        return true;
      }
      case 0x95:  // FRAME: its length is only a hint for reading ahead
        reader_.number<std::uint64_t>("the length of a frame");
        return true;
      case 'N':
        return push(PickleItem());
      case 0x88:
        return push_integer(1, PickleKind::boolean);
      case 0x89:
        return push_integer(0, PickleKind::boolean);
      case 'J':
        return push_integer(reader_.number<std::int32_t>("an integer"));
      case 'K':
        return push_integer(reader_.number<std::uint8_t>("an integer"));
      case 'M':
        return push_integer(reader_.number<std::uint16_t>("an integer"));
      case 0x8a:
        return push_integer(long1());
      case 'G':
        return push_real(__builtin_bswap64(reader_.number<std::uint64_t>("a float")));
      case 'X':
        return push_text(reader_.number<std::uint32_t>("a length"), PickleKind::text);
      case 0x8c:
        return push_text(reader_.number<std::uint8_t>("a length"), PickleKind::text);
      case 'T':  // a string of Python 2
        return push_text(reader_.number<std::uint32_t>("a length"), PickleKind::text);
      case 'U':
        return push_text(reader_.number<std::uint8_t>("a length"), PickleKind::text);
      case 'B':
        return push_text(reader_.number<std::uint32_t>("a length"), PickleKind::bytes);
      case 'C':
        return push_text(reader_.number<std::uint8_t>("a length"), PickleKind::bytes);
      default:
        return false;
    }
  }

  // Tuples, lists and dicts.
  bool container(std::uint8_t code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case '0':
        pop();
        return true;
      case ')':
        return push_node(PickleKind::tuple, {});
      case 't':
        return push_node(PickleKind::tuple, pop_marked());
      case 0x85:
      case 0x86:
      case 0x87:
        return push_node(PickleKind::tuple, pop_last(code - 0x84u));
      case ']':
        return push_node(PickleKind::list, {});
      case '}':
        return push_node(PickleKind::dict, {});
      case 'a':
        return extend(PickleKind::list, pop_last(1));
      case 'e':
        return extend(PickleKind::list, pop_marked());
      case 's':
        return extend(PickleKind::dict, pop_last(2));
      case 'u':
        return extend(PickleKind::dict, pop_marked());
      default:
        return false;
    }
  }

  // The memo: items that are used again.
  bool memory(std::uint8_t code) {
    switch (code) {
      case 'q':
        return remember(reader_.number<std::uint8_t>("an index"));
      case 'r':
        return remember(reader_.number<std::uint32_t>("an index"));
      case 0x94:
        return remember(static_cast<std::uint32_t>(memo_.size()));
      case 'h':
        return recall(reader_.number<std::uint8_t>("an index"));
      case 'j':
        return recall(reader_.number<std::uint32_t>("an index"));
      default:
        return false;
    }
  }

  // Globals, their calls, and ids of objects outside the pickle.
  bool object(std::uint8_t code) {
    switch (code) {
      case 'c': {
        const std::string_view module = line();
        return push_global(module, line());
      }
      case 0x93: {
        const PickleItem name = pop(), module = pop();
        if (name.kind != PickleKind::text || module.kind != PickleKind::text) {
          refuse("the name of a global is {}, expected a string", describe(name.kind));
        }
        return push_global(module.text(), name.text());
      }
      case 'R':
        return call();
      case 'b':
        return build();
      case 'Q':
        return push_node(PickleKind::persistent, pop_last(1));
      default:
        return false;
    }
  }

  bool push(const PickleItem& item) {
    stack_.push_back(item);
    return true;
  }
  bool push_integer(std::int64_t value, PickleKind kind = PickleKind::integer) {
    PickleItem item(kind);
    item.integer = value;
    return push(item);
  }
  bool push_real(std::uint64_t bits) {
    PickleItem item(PickleKind::real);
    item.real = std::bit_cast<double>(bits);
    return push(item);
  }
  bool push_text(std::uint32_t size, PickleKind kind) {
    PickleItem item(kind);
    item.size = size;
    item.chars = reader_.text(size, "a string").data();
    return push(item);
  }
  bool push_node(PickleKind kind, std::vector<PickleItem> items) {
    PickleItem item(kind);
    item.node = &pickle_.nodes_.emplace_back(PickleNode{std::move(items), opcode_byte_});
    return push(item);
  }

  // An integer of up to 8 bytes.
  std::int64_t long1() {
    const auto size = reader_.number<std::uint8_t>("a length");
    if (size > 8) refuse("an integer of {} bytes: the limit is 8", size);
    if (size == 0) return 0;
    std::uint64_t value = 0;
    std::memcpy(&value, reader_.take(size, "an integer").data(), size);
    const int unused = 64 - 8 * size;
    return static_cast<std::int64_t>(value << unused) >> unused;  // extends the sign
  }

  std::string_view line() {
    ByteReader ahead = reader_;
    std::size_t size = 0;
    while (ahead.number<char>("the name of a global") != '\n') ++size;
    const std::string_view text = reader_.text(size, "the name of a global");
    reader_.take(1, "the end of a line");
    return text;
  }

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  PickleItem pop() { return pop_last(1)[0]; }
  std::vector<PickleItem> pop_last(std::size_t count) {
    if (stack_.size() < floor() + count) refuse("the stack of the pickle is empty");
    return pop_from(stack_.size() - count);
  }
  std::vector<PickleItem> pop_marked() {
    if (marks_.empty()) refuse("the stack of the pickle has no mark");
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return pop_from(mark);
  }
  std::vector<PickleItem> pop_from(std::size_t first) {
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<PickleItem> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return items;
  }

  PickleItem& top() {
    if (stack_.size() <= floor()) refuse("the stack of the pickle is empty");
    return stack_.back();
  }

  bool extend(PickleKind kind, const std::vector<PickleItem>& items) {
    const PickleItem& target = top();
    if (target.kind != kind) {
      refuse("items are added to {}, expected {}", describe(target.kind), describe(kind));
    }
    if (kind == PickleKind::dict && items.size() % 2 != 0) {
      refuse("a dict gets {} items: keys and values come in pairs", items.size());
    }
    target.node->items.insert(target.node->items.end(), items.begin(), items.end());
    return true;
  }

  bool remember(std::uint32_t index) {
    memo_[index] = top();
    return true;
  }
  bool recall(std::uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) refuse("the pickle uses memo {}, which it has not set", index);
    return push(found->second);
  }

  bool push_global(std::string_view module, std::string_view name) {
    const auto found = std::find_if(globals_.begin(), globals_.end(), [&](const PickleGlobal& g) {
      return g.module == module && g.name == name;
    });
    if (found == globals_.end()) {
      refuse(
          "global {} is not allowed: heed reads tensors and plain values only; save the "
          "state dict alone, or as safetensors",
          in_quotes(fmt::format("{}.{}", module, name)));
    }
    return push_integer(found - globals_.begin(), PickleKind::global);
  }

  bool call() {
    const PickleItem arguments = pop(), function = pop();
    if (function.kind != PickleKind::global || arguments.kind != PickleKind::tuple) {
      refuse("a call of {} with {}: expected a global and a tuple", describe(function.kind),
             describe(arguments.kind));
    }
    const PickleGlobal& global = globals_[static_cast<std::size_t>(function.integer)];
    switch (global.use) {
      case PickleGlobal::Use::value:
        refuse("global {}.{} is called, which is not allowed", global.module, global.name);
      case PickleGlobal::Use::call:
        return push_node(PickleKind::call, {function, arguments});
      case PickleGlobal::Use::dict:
        return push_node(PickleKind::dict, pairs(arguments.node->items));
    }
    __builtin_unreachable();
  }

  // The arguments of OrderedDict: none, or, from Python 2, a list of pairs.
  std::vector<PickleItem> pairs(const std::vector<PickleItem>& arguments) {
    std::vector<PickleItem> items;
    if (arguments.empty()) return items;
    const bool listed = arguments.size() == 1 && arguments[0].kind == PickleKind::list;
    if (!listed) refuse("a dict is made from {} arguments that are no list", arguments.size());
    copied_ += arguments[0].node->items.size();  // one list may be used many times
    if (copied_ > kMaxPickleOpcodes) refuse("dicts are made from {} pairs in all", copied_);
    for (const PickleItem& pair : arguments[0].node->items) {
      const bool two = (pair.kind == PickleKind::list || pair.kind == PickleKind::tuple) &&
                       pair.node->items.size() == 2;
      if (!two) refuse("a dict is made from a list that holds {}", describe(pair.kind));
      items.insert(items.end(), pair.node->items.begin(), pair.node->items.end());
    }
    return items;
  }

  // The attributes of an object. A state dict has one, `_metadata`, which is not needed.
  bool build() {
    pop();
    if (top().kind != PickleKind::dict) {
      refuse("attributes are set on {}, expected a dict", describe(top().kind));
    }
    return true;
  }

  Pickle& pickle_;
  std::span<const PickleGlobal> globals_;
  ByteReader reader_;
  std::size_t opcode_byte_ = 0;
  std::size_t copied_ = 0;
  std::vector<PickleItem> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, PickleItem> memo_;
};

Pickle::Pickle(std::span<const std::byte> bytes, std::span<const PickleGlobal> globals,
               std::string_view source, std::size_t base) {
  PickleMachine(*this, bytes, globals, source, base).run();
}

}  // namespace heed::io
