// The pickle reader: values, the memo, listed globals, and everything else refused by name and
// byte.
#include "heed/io/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/io/safetensors_support.h"
#include "tests/support/error_message.h"

namespace heed::io::pickle_test {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

constexpr PickleGlobal kGlobals[] = {
    {"collections", "OrderedDict", PickleGlobal::Use::dict},
    {"torch", "make", PickleGlobal::Use::call},
    {"torch", "FloatStorage"},
};

// The pickle as text, for comparison: (1, "a", {…}).
std::string show(const PickleItem& item) {
  const auto all = [&](std::string_view open, std::string_view close) {
    std::string text(open);
    for (const PickleItem& i : item.node->items) text += show(i) + " ";
    return text + std::string(close);
  };
  switch (item.kind) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return item.integer != 0 ? "True" : "False";
    case PickleKind::integer:
      return fmt::format("{}", item.integer);
    case PickleKind::real:
      return fmt::format("{}", item.real);
    case PickleKind::text:
      return fmt::format("'{}'", item.text());
    case PickleKind::bytes:
      return fmt::format("b'{}'", item.text());
    case PickleKind::tuple:
      return all("(", ")");
    case PickleKind::list:
      return all("[", "]");
    case PickleKind::dict:
      return all("{", "}");
    case PickleKind::global:
      return std::string(kGlobals[static_cast<std::size_t>(item.integer)].name);
    case PickleKind::call:
      return all("call<", ">");
    case PickleKind::persistent:
      return all("id<", ">");
  }
  return "?";
}

// Reads a pickle of protocol 2 with these opcodes before STOP.
std::string read(const std::string& opcodes) {
  const AlignedBytes bytes("\x80\x02" + opcodes + ".rest");
  const Pickle pickle(bytes.span(), kGlobals, "m.bin", 0);
  EXPECT_EQ(pickle.size(), opcodes.size() + 3);
  return show(pickle.root());
}

std::string error_of(const std::string& opcodes) {
  return error_message([&] { read(opcodes); });
}

TEST(Pickle, ReadsPlainValues) {
  EXPECT_EQ(read("N"), "None");
  EXPECT_EQ(read("\x88"), "True");
  EXPECT_EQ(read("\x89"), "False");
  EXPECT_EQ(read("K\xff"), "255");
  EXPECT_EQ(read("M\x01\x02"), "513");
  EXPECT_EQ(read("J\xfe\xff\xff\xff"), "-2");
  EXPECT_EQ(read("\x8a\x00"s), "0");
  EXPECT_EQ(read("\x8a\x01\xff"), "-1");
  EXPECT_EQ(read("\x8a\x05\x00\x00\x00\x00\x01"s), "4294967296");
  EXPECT_EQ(read("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s), "-9223372036854775808");
  EXPECT_EQ(read("G\x3f\xe0\x00\x00\x00\x00\x00\x00"s), "0.5");
  EXPECT_EQ(read("X\x03\x00\x00\x00"
                 "abc"s),
            "'abc'");
  EXPECT_EQ(read("\x8c\x02hi"), "'hi'");
  EXPECT_EQ(read("U\x02hi"), "'hi'");
  EXPECT_EQ(read("C\x02hi"), "b'hi'");
  EXPECT_EQ(read("\x95\x00\x00\x00\x00\x00\x00\x00\x00N"s), "None") << "a frame";
}

TEST(Pickle, ReadsContainersAndTheMemo) {
  EXPECT_EQ(read(")"), "()");
  EXPECT_EQ(read("K\x01K\x02\x86"), "(1 2 )");
  EXPECT_EQ(read("(K\x01K\x02K\x03K\x04t"), "(1 2 3 4 )");
  EXPECT_EQ(read("]K\x01"
                 "a"),
            "[1 ]");
  EXPECT_EQ(read("](K\x01K\x02"
                 "e"),
            "[1 2 ]");
  EXPECT_EQ(read("}U\x01kK\x01s"), "{'k' 1 }");
  EXPECT_EQ(read("}(U\x01kK\x01U\x01jNu"), "{'k' 1 'j' None }");
}

TEST(Pickle, TheMemoSharesItems) {
  EXPECT_EQ(read("K\x05q\x00h\x00\x86"s), "(5 5 )");
  EXPECT_EQ(read("K\x05r\x10\x00\x00\x00j\x10\x00\x00\x00\x86"s), "(5 5 )");
  EXPECT_EQ(read("K\x05\x94K\x06\x94h\x01h\x00\x87\x86"s), "(5 (6 6 5 ) )");
  // A list is filled after it was remembered.
  EXPECT_EQ(read("]q\x00K\x01"
                 "ah\x00\x86"s),
            "([1 ] [1 ] )");
}

TEST(Pickle, CallsAreReturnedAndNotMade) {
  EXPECT_EQ(read("ctorch\nmake\nK\x01\x85R"), "call<make (1 ) >");
  EXPECT_EQ(read("U\x05torchU\x04make\x93)R"), "call<make () >");
  EXPECT_EQ(read("(U\x07storagectorch\nFloatStorage\nU\x01"
                 "0tQ"),
            "id<('storage' FloatStorage '0' ) >");
  EXPECT_EQ(read("ccollections\nOrderedDict\n)RU\x01kK\x01s}U\x01mNsb"), "{'k' 1 }")
      << "with attributes, which are dropped";
  EXPECT_EQ(read("ccollections\nOrderedDict\n]]U\x01kaK\x01"
                 "aa\x85R"),
            "{'k' 1 }")
      << "as Python 2 writes it";
}

TEST(Pickle, OtherGlobalsAreRefusedByName) {
  EXPECT_EQ(error_of("cposix\nsystem\nU\x02ls\x85R"),
            "[torch] m.bin: byte 2: global \"posix.system\" is not allowed: heed reads tensors and "
            "plain values only; save the state dict alone, or as safetensors");
  EXPECT_THAT(error_of("U\x08"
                       "builtinsU\x04"
                       "eval\x93"),
              HasSubstr("\"builtins.eval\""));
  EXPECT_THAT(error_of("ctorch\nFloatStorage\n)R"),
              HasSubstr("torch.FloatStorage is called, which is not allowed"));
  EXPECT_THAT(error_of("ctorch\nmake"), HasSubstr("the name of a global"));
  EXPECT_THAT(error_of("K\x01)R"), HasSubstr("a call of an integer with a tuple"));
  EXPECT_THAT(error_of("ctorch\nmake\nNR"), HasSubstr("a call of a global with None"));
  EXPECT_THAT(error_of("K\x01K\x02\x93"), HasSubstr("the name of a global is an integer"));
  EXPECT_THAT(error_of("ccollections\nOrderedDict\nK\x01\x85R"), HasSubstr("that are no list"));
  EXPECT_THAT(error_of("K\x01Nb"), HasSubstr("attributes are set on an integer"));
}

TEST(Pickle, OtherOpcodesAreRefusedByName) {
  EXPECT_EQ(error_of("N\x81"),
            "[torch] m.bin: byte 3: opcode 0x81 (NEWOBJ) is not allowed: heed reads tensors and "
            "plain values only");
  for (const char* opcode :
       {"i", "o", "\x92", "\x82", "P", "I", "\x8b", "2", "\x8f", "\x96", "Z"}) {
    EXPECT_THAT(error_of("N" + std::string(opcode)), HasSubstr("is not allowed")) << opcode;
  }
}

TEST(Pickle, ADamagedPickleIsRefused) {
  for (const char* opcodes : {"0", "\x85", "a", "]a", "]K\x01s", "}K\x01s", "e", "u", "R", "b", "Q",
                              "q\x01", "h\x01", "(", "NN", "(N", "}(K\x01u",
                              "K\x01(K\x02"
                              "e",
                              "\x93"}) {
    EXPECT_NE(error_of(opcodes), "(no error)") << opcodes;
  }
  EXPECT_THAT(error_of("NN"), HasSubstr("ends with 2 items on its stack and 0 marks"));
  EXPECT_THAT(error_of("N(0"), HasSubstr("the stack of the pickle is empty")) << "below the mark";
  EXPECT_THAT(error_of("\x8a\x0a"
                       "0123456789"),
              HasSubstr("an integer of 10 bytes"));
  EXPECT_THAT(error_of("X\xff\xff\xff\xff"
                       "a"),
              HasSubstr("a string at byte 7 needs 4294967295"));
  EXPECT_THAT(error_of("\x80\x01N"), HasSubstr("protocol 1: heed reads 2 to 5"));
  const AlignedBytes no_protocol("N.");
  EXPECT_THAT(error_message([&] { Pickle(no_protocol.span(), kGlobals, "m.bin", 0); }),
              HasSubstr("a pickle begins with its protocol"));
  const AlignedBytes no_end("\x80\x02N");
  EXPECT_THAT(error_message([&] { Pickle(no_end.span(), kGlobals, "m.bin", 40); }),
              HasSubstr("an opcode of the pickle at byte 43"));
}

TEST(Pickle, ItsLengthIsBounded) {
  EXPECT_THAT(error_of(std::string(4'000'001, 'N')), HasSubstr("more than 4000000 opcodes"));
  // One list of pairs, used again and again.
  std::string opcodes = "](";
  for (int i = 0; i < 100'000; ++i) opcodes += "NN\x86";
  opcodes += "eq\x00"s;
  for (int i = 0; i < 100; ++i) opcodes += "ccollections\nOrderedDict\nh\x00\x85R0"s;
  EXPECT_THAT(error_of(opcodes), HasSubstr("pairs in all"));
}

}  // namespace
}  // namespace heed::io::pickle_test
