#include "heed/text/pipeline/aligned_text.h"

#include <algorithm>

#include "heed/text/unicode.h"

namespace heed::pipeline {

AlignedText AlignedText::of(std::string_view original, std::uint32_t origin) {
  AlignedText made;
  made.origin = origin;
  made.text.reserve(original.size());
  made.spans.reserve(original.size());
  std::uint32_t at = origin;
  while (!original.empty()) {
    if (static_cast<unsigned char>(original.front()) < 0x80) {
      made.text += original.front();
      made.spans.push_back({at, at + 1});
      ++at;
      original.remove_prefix(1);
      continue;
    }
    const unicode::CodePoint point = unicode::front(original);
    const auto bytes = static_cast<std::uint32_t>(point.bytes);
    made.append(point.valid ? original.substr(0, bytes) : std::string_view("\xEF\xBF\xBD"),
                {at, at + bytes});
    at += bytes;
    original.remove_prefix(bytes);
  }
  return made;
}

AlignedText AlignedText::slice(std::size_t begin, std::size_t end) const {
  AlignedText made;
  made.append(*this, begin, end);
  made.origin = begin < end ? spans[begin].begin : origin;
  return made;
}

void AlignedText::append(const AlignedText& other, std::size_t begin, std::size_t end) {
  text.append(other.text, begin, end - begin);
  spans.insert(spans.end(), other.spans.begin() + static_cast<std::ptrdiff_t>(begin),
               other.spans.begin() + static_cast<std::ptrdiff_t>(end));
}

void AlignedText::rewrite(const std::vector<unicode::Change>& changes, std::size_t skipped) {
  AlignedText made;
  made.origin = origin;
  made.text.reserve(text.size());
  made.spans.reserve(text.size());
  std::size_t read = 0;
  const auto consume = [&](std::size_t characters) {
    for (; characters > 0 && read < text.size(); --characters) {
      read += unicode::front(std::string_view(text).substr(read)).bytes;
    }
  };
  consume(skipped);
  std::string character;
  for (const auto& [point, change] : changes) {
    // An inserted character is aligned with the one before it.
    const bool inserted = change > 0 || read >= text.size();
    const TextSpan span = !inserted   ? spans[read]
                          : read == 0 ? TextSpan{origin, origin}
                                      : spans[read - 1];
    if (change <= 0) consume(1 + static_cast<std::size_t>(-change));
    if (point < 0x80) {
      made.text += static_cast<char>(point);
      made.spans.push_back(span);
    } else {
      character.clear();
      unicode::append(character, point);
      made.append(character, span);
    }
  }
  *this = std::move(made);
}

void AlignedText::prepend(std::string_view prefix) {
  if (text.empty()) return;
  text.insert(0, prefix);
  spans.insert(spans.begin(), prefix.size(), spans.front());
}

void AlignedText::filter(bool (*keep)(char32_t)) {
  std::size_t out = 0;  // equal to `at` until the first character goes
  for (std::size_t at = 0; at < text.size();) {
    const unicode::CodePoint point = unicode::front(std::string_view(text).substr(at));
    const std::size_t next = at + point.bytes;
    if (!keep(point.value)) {
      at = next;
      continue;
    }
    if (out == at) {
      out = at = next;
      continue;
    }
    for (; at < next; ++at, ++out) {
      text[out] = text[at];
      spans[out] = spans[at];
    }
  }
  text.resize(out);
  spans.resize(out);
}

void AlignedText::map(char32_t (*change)(char32_t)) {
  // Most texts have nothing to change.
  bool is_same = true;
  for (std::size_t at = 0; is_same && at < text.size();) {
    const unicode::CodePoint point = unicode::front(std::string_view(text).substr(at));
    is_same = change(point.value) == point.value;
    at += point.bytes;
  }
  if (is_same) return;
  AlignedText made;
  made.origin = origin;
  made.text.reserve(text.size());
  made.spans.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const unicode::CodePoint point = unicode::front(std::string_view(text).substr(at));
    const std::size_t before = made.text.size();
    unicode::append(made.text, change(point.value));
    made.spans.insert(made.spans.end(), made.text.size() - before, spans[at]);
    at += point.bytes;
  }
  *this = std::move(made);
}

void Pieces::add(const AlignedText& from, std::size_t begin, std::size_t end, std::int32_t token) {
  if (begin >= end) return;
  const auto at = static_cast<std::uint32_t>(all.text.size());
  all.append(from, begin, end);
  pieces.push_back({at, static_cast<std::uint32_t>(all.text.size()), token});
}

}  // namespace heed::pipeline
