#include "heed/serve/html_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "heed/text/unicode.h"

namespace heed::serve {
namespace {

constexpr std::size_t kLongestReference = 11;  // "&#x10ffff;" has 10 characters

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The lower-case name of a tag that begins a text, or "".
std::string tag_name(std::string_view html) {
  std::string name;
  for (std::size_t i = 1; i < html.size() && is_name(html[i]); ++i) {
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(html[i])));
  }
  return name;
}

bool begins_markup(std::string_view html) {
  if (html.size() < 2 || html[0] != '<') return false;
  const auto c = static_cast<unsigned char>(html[1]);
  return std::isalpha(c) != 0 || c == '/' || c == '!' || c == '?';
}

// The end of the tag that begins a text; a > in quotes does not end it.
std::size_t tag_end(std::string_view html) {
  if (html.starts_with("<!--")) {
    const std::size_t end = html.find("-->", 4);
    return end == html.npos ? html.size() : end + 3;
  }
  char quote = 0;
  for (std::size_t i = 1; i < html.size(); ++i) {
    const char c = html[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return i + 1;
    }
  }
  return html.size();
}

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// The end of an element whose content is no text to translate, after its opening tag.
std::size_t element_end(std::string_view html, std::size_t from, const std::string& name) {
  const std::string closing = "</" + name;
  for (std::size_t i = from; i + closing.size() <= html.size(); ++i) {
    if (html[i] == '<' && equal_without_case(html.substr(i, closing.size()), closing)) {
      return i + tag_end(html.substr(i));
    }
  }
  return html.size();
}

std::size_t markup_end(std::string_view html) {
  constexpr std::array<std::string_view, 5> kVerbatim = {"script", "style", "pre", "code",
                                                         "textarea"};
  const std::size_t end = tag_end(html);
  const std::string name = tag_name(html);
  const bool is_verbatim = std::ranges::find(kVerbatim, name) != kVerbatim.end();
  return is_verbatim && !html.substr(0, end).ends_with("/>") ? element_end(html, end, name) : end;
}

// The character of a reference "&name;" that begins a text, and its length; 0: none.
std::pair<std::string, std::size_t> reference(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNamed = {
      {{"&amp;", "&"},
       {"&lt;", "<"},
       {"&gt;", ">"},
       {"&quot;", "\""},
       {"&apos;", "'"},
       {"&nbsp;", "\u00a0"}}};
  for (const auto& [name, character] : kNamed) {
    if (text.starts_with(name)) return {std::string(character), name.size()};
  }
  if (!text.starts_with("&#")) return {"", 0};
  const std::size_t end = text.substr(0, kLongestReference).find(';');
  if (end == text.npos || end < 3) return {"", 0};
  const bool is_hex = text[2] == 'x' || text[2] == 'X';
  const std::string_view digits = text.substr(is_hex ? 3 : 2, end - (is_hex ? 3 : 2));
  std::uint32_t point = 0;
  const auto [last, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), point, is_hex ? 16 : 10);
  if (error != std::errc{} || last != digits.data() + digits.size()) return {"", 0};
  std::string character;
  unicode::append(character, point);
  return {character, end + 1};
}

std::string unescape_html(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    const auto [character, length] =
        text[i] == '&' ? reference(text.substr(i)) : std::pair<std::string, std::size_t>{"", 0};
    if (length > 0) {
      plain += character;
      i += length;
    } else {
      plain += text[i++];
    }
  }
  return plain;
}

}  // namespace

std::vector<HtmlPart> split_html(std::string_view html) {
  std::vector<HtmlPart> parts;
  while (!html.empty()) {
    std::size_t end = 0;
    const bool is_markup = begins_markup(html);
    if (is_markup) {
      end = markup_end(html);
    } else {
      do {
        end = std::min(html.find('<', end + 1), html.size());
      } while (end < html.size() && !begins_markup(html.substr(end)));
    }
    const std::string_view part = html.substr(0, end);
    if (!is_markup) {
      parts.push_back({unescape_html(part), true});
    } else if (!parts.empty() && !parts.back().is_text) {
      parts.back().text += part;
    } else {
      parts.push_back({std::string(part), false});
    }
    html.remove_prefix(end);
  }
  return parts;
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace heed::serve
