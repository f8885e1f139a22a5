// Shared by the two config fuzzers: a config with a field of every kind, and the properties of any
// text: it is either rejected with a heed::Error and changes nothing, or it is read and is equal
// after writing and reading it in both formats.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/config.h"
#include "heed/io/json.h"

namespace heed::fuzz {

enum class Colour { red, green };
constexpr std::array<io::EnumName<Colour>, 2> enum_names(Colour) {
  return {{{Colour::red, "red"}, {Colour::green, "green"}}};
}

struct Inner {
  float f = 0.5f;
  std::optional<double> maybe = 1.0;
  std::optional<std::string> word = "w";

  void fields(io::Fields& field) {
    field("f", f, "a float");
    field("maybe", maybe, "a number or none", {.min = 0});
    field("word", word, "");
  }
  friend bool operator==(const Inner&, const Inner&) = default;
};

struct Config {
  bool b = true;
  std::int64_t i = 1;
  std::uint64_t u = 2;
  std::int8_t small = 3;
  double d = 4;
  std::string s = "text";
  Colour colour = Colour::green;
  std::vector<int> numbers = {1, 2};
  std::vector<std::string> words = {"a"};
  Inner inner;

  void fields(io::Fields& field) {
    field("b", b, "a bool");
    field("i", i, "an integer");
    field("u", u, "an unsigned one");
    field("small", small, "a small one", {.max = 100});
    field("d", d, "a double");
    field("s", s, "a string");
    field("colour", colour, "a choice");
    field("numbers", numbers, "a list");
    field("words", words, "a list");
    field("inner", inner, "a section");
  }
  friend bool operator==(const Config&, const Config&) = default;
};

inline void require(bool condition) {
  if (!condition) std::abort();
}

template <typename Load>
void check_config(std::string_view text, Load load) {
  Config config;
  try {
    load(text, config);
  } catch (const Error& error) {
    require(config == Config());
    io::quote_json(error.what());  // throws, and so fails, if the message is not UTF-8
    return;
  }
  Config from_toml, from_json;
  io::load_toml(io::to_toml(config), from_toml);
  io::load_json(io::to_json(config), from_json);
  require(from_toml == config);
  require(from_json == config);
}

}  // namespace heed::fuzz
