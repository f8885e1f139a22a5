#include "heed/serve/config.h"

#include <algorithm>
#include <set>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/io/config.h"

namespace heed::serve {
namespace {

constexpr io::Limits kCount{.min = 1, .max = 1e9};
constexpr io::Limits kSeconds{.min = 0.01, .max = 1e6};

}  // namespace

void ServeLimits::fields(io::Fields& field) {
  field("body_bytes", body_bytes, "size of a request; more: 413", kCount);
  field("header_bytes", header_bytes, "size of the headers of a request; more: 431",
        {.min = 256, .max = 1 << 20});
  field("source_tokens", source_tokens, "tokens of all texts of a request", kCount);
  field("max_tokens", max_tokens, "tokens that a request may ask for, per text", kCount);
  field("texts", texts, "texts of a request", kCount);
  field("attention_tokens", attention_tokens, "tokens of a text whose attention is shown", kCount);
  field("connections", connections, "connections; more: closed at once", kCount);
  field("connections_per_address", connections_per_address, "the same from one address", kCount);
  field("requests_per_client", requests_per_client,
        "requests of a key (without keys: of an address) at the same time; more: 429", kCount);
  field("texts_per_client", texts_per_client,
        "texts of these requests that wait or are computed; more: 429", kCount);
  field("buffer_megabytes", buffer_megabytes,
        "memory for requests and answers of all clients; more: 503", {.min = 1, .max = 1 << 20});
  field("queue", queue, "texts of a model that wait or are computed; more: 503", kCount);
  field("per_minute", per_minute, "requests of a key or address in a minute; more: 429; 0: any",
        {.min = 0, .max = 1e9});
  field("bad_keys_per_minute", bad_keys_per_minute,
        "wrong keys from an address in a minute; more: 429", {.min = 1, .max = 1e9});
  field("header_seconds", header_seconds, "time for the headers of a request", kSeconds);
  field("body_seconds", body_seconds, "time for the body of a request", kSeconds);
  field("idle_seconds", idle_seconds, "time between the requests of a connection", kSeconds);
  field("write_seconds", write_seconds, "time in which a client must read what is sent", kSeconds);
  field("request_seconds", request_seconds, "time until the answer is complete; more: 503",
        kSeconds);
  field("stop_seconds", stop_seconds, "time for requests in progress when the server stops",
        kSeconds);
}

void ServeConfig::fields(io::Fields& field) {
  field("models", models, "the models: NAME=FOLDER");
  field("host", host, "address to listen on");
  field("port", port, "port to listen on; 0: a free one");
  field("cpu_threads", cpu_threads, "threads that compute; 0: all", {.min = 0, .max = kMaxThreads});
  field("http_threads", http_threads, "threads that read and write connections",
        {.min = 1, .max = 64});
  field("quantize", quantize, "weights in fewer bits: int4, int8 or bf16");
  field("beam_size", beam_size, "hypotheses of translations; none: as in the model's folder",
        {.min = 1, .max = 64});
  field("split_sentences", split_sentences, "translate texts sentence by sentence");
  field("access_log", access_log,
        "file for a JSON line per request; -: standard error; empty: none");
  field("keys", keys, "file with the hashes of API keys; empty: anyone may call");
  field("tls_certificate", tls_certificate, "PEM file with the certificate chain, for https");
  field("tls_key", tls_key, "PEM file with the private key, for https");
  field("cors", cors, "origins whose pages may call, such as https://example.org; *: all");
  field("scheduling", scheduling, "how requests are computed together");
  field("limits", limits, "what clients may use");
}

void ServeConfig::validate() const {
  HEED_CHECK(tls_certificate.empty() == tls_key.empty(),
             "[serve] https needs both tls_certificate and tls_key");
  std::set<std::string> names;
  for (const std::string& text : models) {
    const std::string name = parse_model(text).name;
    HEED_CHECK(names.insert(name).second,
               "[serve] two models have the name {}: name each, as in "
               "--model NAME=FOLDER",
               name);
  }
}

ModelPlace parse_model(const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool has_name = equals != std::string::npos;
  const std::filesystem::path folder = has_name ? text.substr(equals + 1) : text;
  const std::filesystem::path last = folder.has_filename() ? folder : folder.parent_path();
  const std::string name = has_name ? text.substr(0, equals) : last.filename().string();
  const bool is_plain = !name.empty() && name.find_first_not_of(
                                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789-_./:") == std::string::npos;
  HEED_CHECK(is_plain && !folder.empty(),
             "[serve] {} is no model: write NAME=FOLDER, with letters, digits and -_./: in the "
             "name",
             io::in_quotes(text));
  return {.name = name, .folder = folder};
}

}  // namespace heed::serve
