// POST /translate, GET /languages and GET /frontend/settings, in LibreTranslate's shapes.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "heed/io/json.h"
#include "heed/serve/api_error.h"
#include "heed/serve/handlers.h"
#include "heed/serve/html_text.h"
#include "heed/serve/sentences.h"

namespace heed::serve {
namespace {

// A part of a text: a sentence that is translated, or what is kept.
struct TranslatedPart {
  std::string kept;                      // what stands between sentences: white space, markup
  std::optional<std::size_t> unit = {};  // a sentence's place in TranslateJob::units
  bool is_markup = false;
};

// A sentence.
struct TranslateUnit {
  std::vector<std::int32_t> tokens = {};
  std::shared_ptr<const CopiedWords> copied = {};
  NBest found = {};
};

// The work for one request.
struct TranslateJob {
  const ApiContext& context;
  ExchangePtr exchange;
  ChosenTranslator chosen;
  Translator translator;
  TranslateBody body;
  TranslateOptions options = {};
  std::vector<std::vector<TranslatedPart>> texts = {};
  std::vector<TranslateUnit> units = {};

  std::mutex mutex = {};
  std::size_t left = 0;
  std::exception_ptr error = {};
};
using TranslateJobPtr = std::shared_ptr<TranslateJob>;

Translator translator_of(const ChosenTranslator& chosen) {
  const Translator& loaded = *chosen.model->translator();
  if (!chosen.model->languages().is_table) return loaded;
  const bool names_source = loaded.format().languages.source_place != SourceLanguage::none;
  return loaded.between(names_source ? chosen.source : "", chosen.target);
}

TranslateOptions options_of(const TranslateJob& job) {
  TranslateOptions options;
  options.search = job.translator.format().search;
  if (job.context.config.beam_size) options.search.beam_size = *job.context.config.beam_size;
  options.search.n_best = 1 + job.body.alternatives;
  options.search.beam_size = std::max(options.search.beam_size, options.search.n_best);
  options.search.max_length =
      std::min(options.search.max_length, job.context.config.limits.max_tokens);
  return options;
}

void add_sentences(TranslateJob& job, std::vector<TranslatedPart>& parts, std::string_view text) {
  for (TextPiece& piece : split_text(text, job.context.config.split_sentences)) {
    if (!piece.is_sentence) {
      parts.push_back({.kept = std::move(piece.text)});
      continue;
    }
    parts.push_back({.kept = "", .unit = job.units.size()});
    TranslateUnit& unit = job.units.emplace_back();
    unit.tokens = job.translator.read(piece.text);
    unit.copied = job.translator.copied(piece.text, unit.tokens);
  }
}

std::vector<TranslatedPart> split(TranslateJob& job, const std::string& text) {
  std::vector<TranslatedPart> parts;
  if (job.body.format == TextFormat::text) {
    add_sentences(job, parts, text);
    return parts;
  }
  for (const HtmlPart& part : split_html(text)) {
    if (part.is_text) {
      add_sentences(job, parts, part.text);
    } else {
      parts.push_back({.kept = part.text, .unit = {}, .is_markup = true});
    }
  }
  return parts;
}

// The text with the k-th best translations of its sentences.
std::string joined(const TranslateJob& job, const std::vector<TranslatedPart>& parts,
                   std::size_t k) {
  const bool is_html = job.body.format == TextFormat::html;
  std::string text;
  for (const TranslatedPart& part : parts) {
    std::string plain = part.kept;
    if (part.unit) {
      const NBest& found = job.units[*part.unit].found;
      if (!found.empty()) plain = job.translator.text_of(found[std::min(k, found.size() - 1)]);
    }
    text += is_html && !part.is_markup ? escape_html(plain) : plain;
  }
  return text;
}

// A list, or its only member for a request that is no list.
io::Value one_or_list(io::Value::List list, bool is_list) {
  return is_list ? io::Value{std::move(list)} : std::move(list.at(0));
}

void answer(TranslateJob& job) {
  if (job.error) std::rethrow_exception(job.error);
  io::Value::List best, others, languages;
  for (const std::vector<TranslatedPart>& parts : job.texts) {
    best.push_back({joined(job, parts, 0)});
    io::Value::List more;
    for (std::int64_t k = 1; k <= job.body.alternatives; ++k) {
      more.push_back({joined(job, parts, static_cast<std::size_t>(k))});
    }
    others.push_back({std::move(more)});
    languages.push_back(
        {io::Value::Table{{"confidence", {0.0}}, {"language", {job.chosen.source}}}});
  }
  const bool is_list = job.body.q.is_list;
  io::Value::Table answer;
  if (job.body.alternatives > 0) {
    answer.push_back({"alternatives", one_or_list(std::move(others), is_list)});
  }
  if (job.body.source == "auto") {
    answer.push_back({"detectedLanguage", one_or_list(std::move(languages), is_list)});
  }
  answer.push_back({"translatedText", one_or_list(std::move(best), is_list)});
  std::int64_t read = 0, written = 0;
  for (const TranslateUnit& unit : job.units) {
    read += std::ssize(unit.tokens);
    if (!unit.found.empty()) written += std::ssize(unit.found[0].tokens);
  }
  job.context.metrics.add_tokens(job.chosen.model->name(), read, written);
  job.exchange->note([&](Facts& facts) {
    facts.tokens_read = read;
    facts.tokens_written = written;
  });
  job.exchange->answer({.body = io::write_json({std::move(answer)}, false)});
}

void finish(const TranslateJobPtr& job) {
  job->context.pool.post([job] { answer_or_error(job->exchange, false, [&] { answer(*job); }); });
}

// The request of one sentence.
Request request_of(const TranslateJobPtr& job, std::size_t i,
                   const std::shared_ptr<const SearchPlan>& plan) {
  const TranslateUnit& unit = job->units[i];
  Request request =
      job->translator.request_of({.tokens = unit.tokens, .stream = i, .copied = unit.copied}, plan);
  request.on_done = [job, i](NBest found, std::exception_ptr error) {
    ServedModel& model = *job->chosen.model;
    job->context.metrics.add_batch(model.name(), model.gauge().running + 1);
    model.release();
    {
      const std::lock_guard lock(job->mutex);
      job->units[i].found = std::move(found);
      if (error && !job->error) job->error = std::move(error);
      if (--job->left > 0) return;
    }
    finish(job);
  };
  return request;
}

void submit(const TranslateJobPtr& job) {
  Scheduler& scheduler = job->chosen.model->scheduler();
  const auto plan = job->translator.plan(job->options);
  std::vector<Request> requests;
  for (std::size_t i = 0; i < job->units.size(); ++i) {
    if (job->translator.is_empty(job->units[i].tokens)) continue;
    requests.push_back(request_of(job, i, plan));
    scheduler.check(requests.back());
  }
  if (requests.empty()) return finish(job);
  job->left = requests.size();
  reserve(*job->exchange, *job->chosen.model, std::ssize(requests));
  std::vector<std::int64_t> numbers = job->chosen.model->submit(std::move(requests));
  job->exchange->on_cancel([model = job->chosen.model, numbers = std::move(numbers)] {
    for (const std::int64_t number : numbers) model->scheduler().cancel(number);
  });
}

// English names of languages that translators often have.
std::string name_of(const std::string& code) {
  static const std::map<std::string, std::string> kNames = {
      {"ar", "Arabic"},     {"bg", "Bulgarian"},     {"ca", "Catalan"},    {"cs", "Czech"},
      {"da", "Danish"},     {"de", "German"},        {"el", "Greek"},      {"en", "English"},
      {"eo", "Esperanto"},  {"es", "Spanish"},       {"et", "Estonian"},   {"fa", "Persian"},
      {"fi", "Finnish"},    {"fr", "French"},        {"ga", "Irish"},      {"he", "Hebrew"},
      {"hi", "Hindi"},      {"hu", "Hungarian"},     {"id", "Indonesian"}, {"it", "Italian"},
      {"ja", "Japanese"},   {"ko", "Korean"},        {"lt", "Lithuanian"}, {"lv", "Latvian"},
      {"mul", "Multiple"},  {"nb", "Norwegian"},     {"nl", "Dutch"},      {"pl", "Polish"},
      {"pt", "Portuguese"}, {"ro", "Romanian"},      {"ru", "Russian"},    {"sk", "Slovak"},
      {"sl", "Slovenian"},  {"sv", "Swedish"},       {"th", "Thai"},       {"tr", "Turkish"},
      {"uk", "Ukrainian"},  {"und", "Undetermined"}, {"vi", "Vietnamese"}, {"zh", "Chinese"}};
  const auto found = kNames.find(code);
  return found == kNames.end() ? code : found->second;
}

}  // namespace

void translate(const ApiContext& context, const ServedModels& models, const TranslateBody& body,
               const ExchangePtr& exchange) {
  check_texts(body.q, context.config.limits, "q");
  ChosenTranslator chosen = find_translator(models, body.source, body.target);
  exchange->note([&](Facts& facts) { facts.model = chosen.model->name(); });
  Translator translator = translator_of(chosen);
  const TranslateJobPtr job(new TranslateJob{.context = context,
                                             .exchange = exchange,
                                             .chosen = std::move(chosen),
                                             .translator = std::move(translator),
                                             .body = body});
  job->options = options_of(*job);
  for (const std::string& text : body.q.items) job->texts.push_back(split(*job, text));
  std::int64_t tokens = 0;
  for (const TranslateUnit& unit : job->units) tokens += std::ssize(unit.tokens);
  check_tokens(tokens, context.config.limits);
  submit(job);
}

std::string languages_json(const ServedModels& models) {
  std::map<std::string, std::set<std::string>> targets;
  for (const ServedModelPtr& model : models) {
    for (const std::string& source : model->languages().sources) {
      for (const std::string& target : model->languages().targets) {
        if (source != target || source == "und") targets[source].insert(target);
      }
    }
  }
  io::Value::List list;
  for (const auto& [source, all] : targets) {
    io::Value::List codes;
    for (const std::string& target : all) codes.push_back({target});
    list.push_back({io::Value::Table{
        {"code", {source}}, {"name", {name_of(source)}}, {"targets", {std::move(codes)}}}});
  }
  return io::write_json({std::move(list)}, false);
}

std::string settings_json(const ServeConfig& config, const ServedModels& models) {
  const auto language = [](const std::string& code) {
    return io::Value{io::Value::Table{{"code", {code}}, {"name", {name_of(code)}}}};
  };
  io::Value source, target;
  for (const ServedModelPtr& model : models) {
    if (!model->translator() || !source.is_null()) continue;
    source = language(model->languages().sources.at(0));
    target = language(model->languages().targets.at(0));
  }
  const bool needs_key = !config.keys.empty();
  return io::write_json(
      {io::Value::Table{
          {"apiKeys", {needs_key}},
          {"charLimit", {config.limits.source_tokens * kBytesOfToken}},
          {"filesTranslation", {false}},
          {"frontendTimeout", {std::int64_t{500}}},
          {"keyRequired", {needs_key}},
          {"language",
           {io::Value::Table{{"source", std::move(source)}, {"target", std::move(target)}}}},
          {"suggestions", {false}},
          {"supportedFilesFormat", {io::Value::List{}}}}},
      false);
}

}  // namespace heed::serve
