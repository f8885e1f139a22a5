// A service with small untrained models, and requests to it without sockets.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "heed/generation/model_folder.h"
#include "heed/io/json.h"
#include "heed/serve/service.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/serve/recorder.h"
#include "tests/support/temp_dir.h"

namespace heed::serve {

/// The folders of a translator en-fr, a language model and a sentence encoder of letters.
class SmallModels {
 public:
  SmallModels() {
    save("en-fr", test::tiny_translator(test::letters(), test::letters()));
    save("text", test::tiny_generator());
    save("vectors", test::tiny_embedder());
  }

  ServeConfig config() const {
    ServeConfig config;
    for (const char* const name : {"en-fr", "text", "vectors"}) {
      config.models.push_back(std::string(name) + "=" + (dir_ / name).string());
    }
    config.access_log = "";
    config.port = 0;
    return config;
  }
  const TempDir& dir() const { return dir_; }

 private:
  template <typename Model>
  void save(const std::string& name, const Model& model) {
    std::filesystem::create_directory(dir_ / name);
    save_model(model, dir_ / name);
  }

  TempDir dir_;
};

/// The models of all tests of this folder, written once.
inline const SmallModels& small_models() {
  static const SmallModels models;
  return models;
}

/// Sends a request and waits for the answer; that of a stream has its parts as body.
inline HttpResponse ask(Service& service, HttpRequest request) {
  const auto recorder = std::make_shared<Recorder>();
  const auto exchange = std::make_shared<Exchange>(std::move(request), recorder);
  service.handle(exchange);
  recorder->wait();
  exchange->release();  // as connections do after a whole answer
  if (!recorder->answers.empty()) return recorder->answers[0];
  HttpResponse response = recorder->heads.at(0);
  response.body = recorder->streamed;
  return response;
}

inline HttpResponse post(Service& service, const std::string& path, const std::string& body) {
  return ask(service, {.method = "POST", .path = path, .body = body, .address = "127.0.0.1"});
}

/// A member of a JSON object, by keys and numbers between dots: "choices.0.text".
inline io::Value member(const std::string& json, std::string_view path) {
  io::Value value = io::parse_json(json, "answer");
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string key(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
    const io::Value* next = nullptr;
    if (value.list()) {
      next = &value.list()->at(static_cast<std::size_t>(std::stoi(key)));
    } else {
      next = value.table() ? io::find(*value.table(), key) : nullptr;
    }
    if (next == nullptr) throw Error("no " + key + " in " + json);
    value = io::Value(*next);
  }
  return value;
}
inline std::string text_at(const std::string& json, std::string_view path) {
  return *member(json, path).string();
}

}  // namespace heed::serve
