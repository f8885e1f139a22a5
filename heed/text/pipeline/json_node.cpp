#include "heed/text/pipeline/json_node.h"

#include "heed/text/unicode.h"

namespace heed::pipeline {

std::string JsonNode::where() const {
  return path_.empty() ? std::string(source_) : fmt::format("{}: {}", source_, path_);
}

void JsonNode::refuse(std::string_view expected) const {
  fail("[tokenizer] {} is {}: expected {}", where(), io::describe(*value_), expected);
}

const io::Value::Table& JsonNode::members() const {
  if (value_->table() == nullptr) refuse("an object");
  return *value_->table();
}

const io::Value::List& JsonNode::values() const {
  if (value_->list() == nullptr) refuse("a list");
  return *value_->list();
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  const io::Value* const found = io::find(members(), key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  return JsonNode(*found, source_,
                  path_.empty() ? std::string(key) : path_ + '.' + std::string(key));
}

JsonNode JsonNode::at(std::string_view key) const {
  const auto found = find(key);
  HEED_CHECK(found.has_value(), "[tokenizer] {} lacks \"{}\"", where(), key);
  return *found;
}

JsonNode JsonNode::element(const io::Value& value, std::size_t index) const {
  return JsonNode(value, source_, fmt::format("{}[{}]", path_, index));
}

std::vector<JsonNode> JsonNode::list() const {
  std::vector<JsonNode> all;
  for (const io::Value& value : values()) all.push_back(element(value, all.size()));
  return all;
}

const std::string& JsonNode::text() const {
  if (value_->string() == nullptr) refuse("a string");
  return *value_->string();
}

std::int64_t JsonNode::integer(std::int64_t min, std::int64_t max) const {
  const std::int64_t* const n = value_->integer();
  if (n == nullptr || *n < min || *n > max) {
    refuse(fmt::format("an integer from {} to {}", min, max));
  }
  return *n;
}

bool JsonNode::boolean() const {
  if (value_->boolean() == nullptr) refuse("true or false");
  return *value_->boolean();
}

double JsonNode::number() const {
  if (const std::int64_t* const n = value_->integer()) return static_cast<double>(*n);
  if (value_->floating() == nullptr) refuse("a number");
  return *value_->floating();
}

char32_t JsonNode::character() const {
  const std::string& all = text();
  if (all.empty() || unicode::front(all).bytes != all.size()) refuse("one character");
  return unicode::front(all).value;
}

bool JsonNode::flag(std::string_view key, bool otherwise) const {
  const auto found = find(key);
  return found ? found->boolean() : otherwise;
}

std::string JsonNode::text(std::string_view key, std::string_view otherwise) const {
  const auto found = find(key);
  return found ? found->text() : std::string(otherwise);
}

}  // namespace heed::pipeline
