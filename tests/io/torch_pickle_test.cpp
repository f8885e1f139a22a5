// The tensors that a pickle of torch.save describes, and views that do not fit their storages.
#include "heed/io/torch_pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/io/safetensors_support.h"
#include "tests/io/torch_support.h"
#include "tests/support/error_message.h"

namespace heed::io::torch_pickle_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TorchPickle read(const std::string& pickle) {
  const AlignedBytes bytes(pickle);
  return read_torch_pickle(bytes.span(), "m.bin", 0);
}

std::string error_of(const std::string& pickle) {
  return error_message([&] { read(pickle); });
}
std::string view_error(const TorchParts& parts) {
  return error_of(pickle_dict({{"w", pickle_tensor(parts)}}));
}

TEST(TorchPickle, ReadsTensorsAndTheirStorages) {
  const TorchPickle pickle =
      read(pickle_dict({{"w", pickle_tensor({})},
                        {"t", pickle_tensor({.shape = {3, 2}, .strides = {1, 3}})},
                        {"b", pickle_tensor({.storage_type = "BoolStorage",
                                             .key = "7",
                                             .count = 4,
                                             .offset = 1,
                                             .shape = {2},
                                             .strides = {1}})}}));
  ASSERT_EQ(pickle.storages.size(), 2u);
  EXPECT_EQ(pickle.storages[0].key, "0");
  EXPECT_EQ(pickle.storages[0].bytes, 24u);
  EXPECT_EQ(pickle.storages[1].type, TensorType::BOOL);
  ASSERT_EQ(pickle.tensors.size(), 3u);
  EXPECT_EQ(pickle.tensors[0].name, "w");
  EXPECT_EQ(pickle.tensors[0].shape, Shape({2, 3}));
  EXPECT_EQ(pickle.tensors[1].strides, Strides({1, 3}));
  EXPECT_EQ(pickle.tensors[1].storage, 0u) << "shared";
  EXPECT_EQ(pickle.tensors[2].offset, 1);
}

TEST(TorchPickle, StridesOfSizesOneDoNotMatter) {
  const TorchPickle pickle =
      read(pickle_dict({{"w", pickle_tensor({.shape = {1, 6, 1}, .strides = {99, 1, 0}})},
                        {"e", pickle_tensor({.shape = {0, 3}, .strides = {5, 7}})}}));
  EXPECT_EQ(pickle.tensors[0].strides, row_major({1, 6, 1}));
  EXPECT_EQ(pickle.tensors[1].strides, row_major({0, 3}));
}

TEST(TorchPickle, DictsAndListsAreFlattened) {
  const std::string tensor = pickle_tensor({});
  const std::string inner = "}" + pickle_text("w") + tensor + "s";
  const std::string list = "]" + tensor +
                           "aK\x05"
                           "a";
  const std::string numbered = "}K\x03" + tensor + "s";
  const TorchPickle pickle = read(pickle_dict(
      {{"model", inner}, {"step", "K\x01"}, {"list", list}, {"state", numbered}, {"none", "N"}}));
  std::vector<std::string> names;
  for (const TorchTensor& t : pickle.tensors) names.push_back(t.name);
  EXPECT_THAT(names, testing::ElementsAre("model.w", "list.0", "state.3"));
}

TEST(TorchPickle, ReadsParametersAndUntypedStorages) {
  const std::string parameter = "ctorch._utils\n_rebuild_parameter\n(" + pickle_tensor({}) +
                                "\x88Nt"
                                "R";
  const std::string untyped = "ctorch._utils\n_rebuild_tensor_v3\n((" + pickle_text("storage") +
                              "ctorch.storage\nUntypedStorage\n" + pickle_text("1") +
                              pickle_text("cpu") + pickle_integer(8) + "tQK\x01" +
                              pickle_tuple({3}) + pickle_tuple({1}) + "\x89Nctorch\nuint16\ntR";
  const TorchPickle pickle = read(pickle_dict({{"p", parameter}, {"u", untyped}}));
  ASSERT_EQ(pickle.tensors.size(), 2u);
  EXPECT_EQ(pickle.tensors[0].type, TensorType::F32);
  EXPECT_EQ(pickle.tensors[1].type, TensorType::U16);
  EXPECT_EQ(pickle.storages[1].bytes, 8u);
}

TEST(TorchPickle, AViewMustLieInItsStorage) {
  constexpr std::int64_t kMax = INT64_MAX;
  EXPECT_EQ(view_error({}), "(no error)");
  EXPECT_THAT(view_error({.count = 5}),
              AllOf(HasSubstr("tensor \"w\" (pickle, byte "),
                    HasSubstr("shape [2, 3] with strides [3, 1] at offset 0 reaches beyond its "
                              "storage \"0\", which has 5 elements")));
  EXPECT_THAT(view_error({.offset = 1}), HasSubstr("reaches beyond"));
  EXPECT_THAT(view_error({.offset = kMax}), HasSubstr("reaches beyond"));
  EXPECT_THAT(view_error({.strides = {kMax, kMax}}), HasSubstr("reaches beyond"));
  EXPECT_THAT(view_error({.strides = {4, 1}}), HasSubstr("reaches beyond"));
  EXPECT_THAT(view_error({.shape = {kMax, kMax}}), HasSubstr("overflow"));
  EXPECT_THAT(view_error({.shape = {1 << 20, 1 << 20}, .strides = {0, 0}}),
              HasSubstr("reaches beyond"))
      << "repeated elements";
  EXPECT_THAT(view_error({.shape = {6}}), HasSubstr("do not fit together"));
  EXPECT_THAT(view_error({.offset = -1}), HasSubstr("its offset must be an integer from 0"));
  EXPECT_THAT(view_error({.shape = {-2, 3}}), HasSubstr("its shape must be an integer from 0"));
  EXPECT_THAT(view_error({.strides = {-3, 1}}), HasSubstr("its strides must be an integer"));
  EXPECT_THAT(view_error({.count = -1}), HasSubstr("the size of its storage"));
  EXPECT_THAT(view_error({.count = kMax}), HasSubstr("too many"));
  EXPECT_THAT(view_error({.shape = {1, 1, 1, 1, 1, 1, 1, 1, 1}}), HasSubstr("9 dimensions"));
  EXPECT_THAT(view_error({.storage_type = "float32"}),
              HasSubstr("the type of its storage is a global"));
  EXPECT_EQ(view_error({.offset = 6, .shape = {0}, .strides = {1}}), "(no error)");
  EXPECT_THAT(view_error({.offset = 7, .shape = {0}, .strides = {1}}), HasSubstr("reaches beyond"));
}

TEST(TorchPickle, AStorageHasOneTypeAndSize) {
  EXPECT_THAT(error_of(pickle_dict({{"a", pickle_tensor({})}, {"b", pickle_tensor({.count = 7})}})),
              HasSubstr("storage \"0\" has 7 elements of F32 here and 6 of F32 before"));
  EXPECT_THAT(error_of(pickle_dict({{"a", pickle_tensor({})},
                                    {"b", pickle_tensor({.storage_type = "IntStorage"})}})),
              HasSubstr("6 elements of I32 here"));
}

TEST(TorchPickle, NamesAreUniqueAndKeysAreTexts) {
  const std::string tensor = pickle_tensor({});
  EXPECT_THAT(error_of(pickle_dict({{"w", tensor}, {"w", tensor}})),
              HasSubstr("tensor \"w\" occurs twice"));
  EXPECT_THAT(error_of("\x80\x02}N" + tensor + "s."), HasSubstr("a key in the dict \"\" is None"));
}

TEST(TorchPickle, DepthAndSharingAreBounded) {
  // A list that contains itself, and lists that contain the one before many times.
  EXPECT_THAT(error_of("\x80\x02]q\x01h\x01"
                       "a."),
              HasSubstr("nested more than 16 deep"));
  std::string opcodes = "\x80\x02]";
  for (int level = 0; level < 12; ++level) {
    opcodes += "q\x01](";
    for (int i = 0; i < 30; ++i) opcodes += "h\x01";
    opcodes += "e";
  }
  EXPECT_THAT(error_of(opcodes + "q\x01" + std::string(12, '0') + "0h\x01."),
              HasSubstr("more than 1048576 values"));
}

}  // namespace
}  // namespace heed::io::torch_pickle_test
