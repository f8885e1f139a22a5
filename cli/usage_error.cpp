#include "cli/usage_error.h"

#include <fmt/format.h>

#include <vector>

#include "heed/base/suggest.h"

namespace heed::cli {
namespace {

// "heed see attention": the part of the command line that was understood.
struct Reached {
  const CLI::App* verb;
  std::string command;
};

Reached reached(const CLI::App* app) {
  Reached now{app, app->get_name()};
  while (!now.verb->get_subcommands().empty()) {
    now.verb = now.verb->get_subcommands().back();
    now.command += " " + now.verb->get_name();
  }
  return now;
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> flags_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// "there is no flag --aftr: did you mean --after?"
std::string unknown(const char* what, const std::string& word,
                    const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string_view guess = nearest(word.substr(0, word.find('=')), names);
  return fmt::format("there is no {} {}{}", what, word,
                     guess.empty() ? "" : fmt::format(": did you mean {}?", guess));
}

std::string message(const Reached& now, const CLI::Error& error) {
  for (const std::string& word : now.verb->remaining()) {
    if (word.starts_with('-')) return unknown("flag", word, flags_of(*now.verb));
    const std::vector<std::string> verbs = verbs_of(*now.verb);
    if (!verbs.empty()) return unknown("verb", word, verbs);
  }
  if (error.get_name() == "RequiredError" && !verbs_of(*now.verb).empty()) {
    return fmt::format("a verb is needed: {}", fmt::join(verbs_of(*now.verb), ", "));
  }
  return error.what();
}

}  // namespace

std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  const Reached now = reached(app);
  return fmt::format("{}: {}\n`{} --help` shows all.\n", now.command, message(now, error),
                     now.command);
}

}  // namespace heed::cli
