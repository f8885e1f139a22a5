// heed serve: models over HTTP (docs/how-to/serve.md).
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/config_flags.h"
#include "cli/filter_io.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/io/config.h"
#include "heed/serve/keys.h"
#include "heed/serve/server.h"

namespace heed::cli {
namespace {

struct ServeFlags {
  std::string config;
  std::vector<std::string> models;
  std::string new_key;
  std::vector<std::string> assignments;  // "key=value"
};

// The file, then the flags.
serve::ServeConfig config_of(const ServeFlags& flags) {
  serve::ServeConfig config;
  if (!flags.config.empty()) io::load_config(flags.config, config);
  io::set_fields(config, flags.assignments);
  if (!flags.models.empty()) config.models = flags.models;
  config.validate();
  return config;
}

void print_key(const std::string& name) {
  const serve::NewKey made = serve::make_key(name);
  fmt::print("{}\n", made.line);
  print_note(
      fmt::format("the key of {} is {}\nIt is not stored: give it to the client, and add "
                  "the line above to the file of --keys.",
                  name, made.key));
}

void serve_models(const ServeFlags& flags) {
  if (!flags.new_key.empty()) return print_key(flags.new_key);
  const serve::ServeConfig config = config_of(flags);
  if (config.cpu_threads > 0) set_num_threads(config.cpu_threads);
  config.scheduling.validate();
  serve::Service service(config);
  serve::Server server(service);
  const std::string place = fmt::format(
      "{}://{}:{}", config.tls_certificate.empty() ? "http" : "https",
      config.host.find(':') == std::string::npos ? config.host : "[" + config.host + "]",
      server.port());
  print_note(fmt::format("serving {} at {}", fmt::join(config.models, ", "), place));
  server.run({.reload = [&] { service.reload(config_of(flags)); },
              .say = [](const std::string& note) { print_note(note); }});
}

}  // namespace

void add_serve(CLI::App& app) {
  CLI::App* const verb = app.add_subcommand(
      "serve", "Serve models over HTTP: translation, text, vectors and attention");
  const auto flags = std::make_shared<ServeFlags>();
  verb->add_option("-c,--config", flags->config, "a TOML file with the keys below");
  verb->add_option("-m,--model", flags->models,
                   "NAME=FOLDER: a model and its name; may be given several times")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  verb->add_option("--new-key", flags->new_key,
                   "make an API key for this client and print its line for --keys; nothing else");
  std::vector<io::FieldInfo> fields = io::list_fields(serve::ServeConfig{});
  std::erase_if(fields, [](const io::FieldInfo& field) { return field.path == "models"; });
  add_config_flags(*verb, fields, flags->assignments);
  verb->callback([flags] { serve_models(*flags); });
}

}  // namespace heed::cli
