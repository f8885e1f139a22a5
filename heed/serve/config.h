// The config of a server. Each field is a flag of `heed serve` and a key of its TOML file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/generation/scheduler_options.h"
#include "heed/io/fields.h"
#include "heed/nn/packed_weight.h"

namespace heed::serve {

/// What clients may use. Numbers of seconds may be fractions.
struct ServeLimits {
  std::int64_t body_bytes = 1 << 20;
  std::int64_t header_bytes = 16 << 10;
  std::int64_t source_tokens = 4096;    // of all texts of a request
  std::int64_t max_tokens = 1024;       // that a request may ask for, per text
  std::int64_t texts = 128;             // of one request
  std::int64_t attention_tokens = 320;  // of the text and of its result

  std::int64_t connections = 8192;
  std::int64_t connections_per_address = 1024;
  std::int64_t requests_per_client = 256;  // at the same time
  std::int64_t texts_per_client = 512;     // of these requests
  std::int64_t buffer_megabytes = 1024;    // requests and answers of all clients
  std::int64_t queue = 1024;               // texts of a model that wait or are computed
  double per_minute = 0;                   // requests of a client; 0: any
  double bad_keys_per_minute = 30;         // of an address

  double header_seconds = 10;
  double body_seconds = 30;
  double idle_seconds = 60;
  double write_seconds = 30;
  double request_seconds = 120;
  double stop_seconds = 20;

  void fields(io::Fields& field);
};

struct ServeConfig {
  std::vector<std::string> models = {};  // "NAME=FOLDER"
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;
  int cpu_threads = 0;  // 0: all
  int http_threads = 2;
  PackedForm quantize = PackedForm::f32;
  std::optional<std::int64_t> beam_size = {};  // of translations; none: that of the model
  bool split_sentences = true;                 // translate texts sentence by sentence
  std::string access_log = "-";                // "": none
  std::string keys = {};                       // a file (keys.h)
  std::string tls_certificate = {}, tls_key = {};
  std::vector<std::string> cors = {};  // origins that may call; "*": all
  SchedulerOptions scheduling = {};
  ServeLimits limits = {};

  void fields(io::Fields& field);
  /// Throws heed::Error if members do not fit together.
  void validate() const;
};

/// The name of a model and where it is.
struct ModelPlace {
  std::string name;
  std::filesystem::path folder;
};
/// Reads "NAME=FOLDER"; without a name, the last part of the folder is the name.
ModelPlace parse_model(const std::string& text);

}  // namespace heed::serve
