// POST /v1/completions and /v1/chat/completions, in OpenAI's shapes. Each result of a request is a
// request of the scheduler, so that its tokens can be streamed and do not depend on the others.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <random>
#include <utility>

#include "heed/generation/chat.h"
#include "heed/generation/generation_request.h"
#include "heed/io/json.h"
#include "heed/serve/api_error.h"
#include "heed/serve/handlers.h"
#include "heed/text/unicode.h"

namespace heed::serve {
namespace {

using io::Value;

constexpr std::int64_t kUsualTokens = 16;  // OpenAI's default for completions

// One result.
struct Choice {
  std::size_t prompt;
  std::uint64_t stream;  // of random numbers
  GenerateOptions options;
  std::unique_ptr<TextTeller> teller = {};
  NBest found = {};
};

// The work for one request.
struct CompletionJob {
  const ApiContext& context;
  ExchangePtr exchange;
  ServedModelPtr model;
  bool is_chat = false;
  Sampling sampling = {};
  bool has_logprobs = false, has_top = false, json_object = false;
  std::string id = {};
  std::int64_t created = 0;
  std::vector<Prompt> prompts = {};
  std::vector<Choice> choices = {};

  std::mutex mutex = {};
  std::size_t left = 0;
  std::exception_ptr error = {};

  const TextGenerator& generator() const { return *model->generator(); }
};
using CompletionJobPtr = std::shared_ptr<CompletionJob>;

// ---- options ------------------------------------------------------------------------------------

// The most tokens of a result.
std::int64_t longest_of(const CompletionJob& job, const Prompt& prompt) {
  const ServeLimits& limits = job.context.config.limits;
  const std::int64_t positions = job.generator().model->max_length();
  const std::int64_t room = positions - std::ssize(prompt.tokens);
  const std::int64_t usual = job.is_chat ? limits.max_tokens : kUsualTokens;
  const std::int64_t wanted = job.sampling.max_tokens.value_or(
      std::min({usual, limits.max_tokens, std::max<std::int64_t>(room, 1)}));
  if (wanted > room) {
    throw ApiError(400,
                   fmt::format("the prompt has {} tokens and the result up to {}: the model has {} "
                               "positions",
                               prompt.tokens.size(), wanted, positions),
                   "context_length_exceeded");
  }
  if (wanted > limits.max_tokens) {
    throw ApiError(
        400, fmt::format("max_tokens is {}: this server allows {}", wanted, limits.max_tokens));
  }
  return wanted;
}

GenerateOptions options_for(const CompletionJob& job, const Prompt& prompt, std::uint64_t seed) {
  const Sampling& given = job.sampling;
  GenerateOptions options = usual_options(job.generator());
  SearchOptions& search = options.search;
  search.beam_size = 1;
  search.n_best = 1;
  if (given.temperature) {
    search.method = *given.temperature > 0 ? SearchMethod::sample : SearchMethod::beam;
    if (*given.temperature > 0) search.temperature = *given.temperature;
  }
  search.top_p = given.top_p.value_or(search.top_p);
  search.min_p = given.min_p.value_or(search.min_p);
  search.top_k = given.top_k.value_or(search.top_k);
  search.presence_penalty = given.presence_penalty.value_or(search.presence_penalty);
  search.frequency_penalty = given.frequency_penalty.value_or(search.frequency_penalty);
  search.repetition_penalty = given.repetition_penalty.value_or(search.repetition_penalty);
  search.seed = seed;
  search.max_length = longest_of(job, prompt);
  search.min_length = std::min(search.min_length, search.max_length);
  options.stop = given.stop.items;
  options.json_object = job.json_object;
  options.validate();
  return options;
}

// ---- answers ------------------------------------------------------------------------------------

Value text_value(std::string_view text) { return {std::string(text)}; }

// OpenAI's names.
std::string_view name_of(Finish finish) { return finish == Finish::length ? "length" : "stop"; }

struct TokenText {
  std::string text;
  double log_probability;
};

std::vector<TokenText> tokens_of(const CompletionJob& job, const Choice& choice) {
  constexpr double kLeast = -9999.0;  // JSON has no infinity
  DecodeStream stream(*job.generator().tokenizer);
  for (const std::int32_t token : job.prompts[choice.prompt].tokens) stream.add(token);
  const Hypothesis& found = choice.found[0];
  std::vector<TokenText> tokens;
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    const auto value = static_cast<double>(found.token_log_probabilities[i]);
    tokens.push_back({stream.add(found.tokens[i]), std::isfinite(value) ? value : kLeast});
  }
  return tokens;
}

Value chat_logprobs(const CompletionJob& job, const Choice& choice) {
  Value::List content;
  for (const auto& [text, log_probability] : tokens_of(job, choice)) {
    Value::List bytes;
    for (const char c : text) bytes.push_back({std::int64_t{static_cast<unsigned char>(c)}});
    Value::Table token{
        {"token", {text}}, {"logprob", {log_probability}}, {"bytes", {std::move(bytes)}}};
    Value::List top;
    if (job.has_top) top.push_back({token});
    token.push_back({"top_logprobs", {std::move(top)}});
    content.push_back({std::move(token)});
  }
  return {Value::Table{{"content", {std::move(content)}}}};
}

Value completion_logprobs(const CompletionJob& job, const Choice& choice) {
  Value::List texts, values, offsets, top;
  std::int64_t offset = std::ssize(unicode::decode(job.prompts[choice.prompt].text));
  for (const auto& [text, log_probability] : tokens_of(job, choice)) {
    texts.push_back({text});
    values.push_back({log_probability});
    offsets.push_back({offset});
    offset += std::ssize(unicode::decode(text));
    top.push_back({Value::Table{{text, {log_probability}}}});
  }
  return {Value::Table{{"tokens", {std::move(texts)}},
                       {"token_logprobs", {std::move(values)}},
                       {"top_logprobs", job.has_top ? Value{std::move(top)} : Value{}},
                       {"text_offset", {std::move(offsets)}}}};
}

Value logprobs_of(const CompletionJob& job, const Choice& choice) {
  if (!job.has_logprobs) return {};
  return job.is_chat ? chat_logprobs(job, choice) : completion_logprobs(job, choice);
}

Value usage_of(const CompletionJob& job) {
  std::int64_t read = 0, written = 0;
  for (const Prompt& prompt : job.prompts) read += std::ssize(prompt.tokens);
  for (const Choice& choice : job.choices) {
    if (!choice.found.empty()) written += std::ssize(choice.found[0].tokens);
  }
  job.context.metrics.add_tokens(job.model->name(), read, written);
  job.exchange->note([&](Facts& facts) {
    facts.tokens_read = read;
    facts.tokens_written = written;
  });
  return {Value::Table{{"prompt_tokens", {read}},
                       {"completion_tokens", {written}},
                       {"total_tokens", {read + written}}}};
}

// The members of every answer and event.
Value::Table head_of(const CompletionJob& job, Value::List choices) {
  const std::string_view object = !job.is_chat          ? "text_completion"
                                  : job.sampling.stream ? "chat.completion.chunk"
                                                        : "chat.completion";
  return {{"id", {job.id}},
          {"object", text_value(object)},
          {"created", {job.created}},
          {"model", {job.model->name()}},
          {"choices", {std::move(choices)}}};
}

Value choice_value(const CompletionJob& job, std::size_t index) {
  const Choice& choice = job.choices[index];
  HEED_CHECK(!choice.found.empty(), "[serve] the search found no text");
  const GeneratedText result = std::move(
      texts_of(job.generator(), job.prompts[choice.prompt], choice.options, choice.found)[0]);
  Value::Table value{{"index", {static_cast<std::int64_t>(index)}}};
  if (job.is_chat) {
    value.push_back(
        {"message", {Value::Table{{"role", text_value("assistant")}, {"content", {result.text}}}}});
  } else {
    value.push_back({"text", {result.text}});
  }
  value.push_back({"logprobs", logprobs_of(job, choice)});
  value.push_back({"finish_reason", text_value(name_of(result.hypothesis.finish))});
  return {std::move(value)};
}

void answer(CompletionJob& job) {
  if (job.error) std::rethrow_exception(job.error);
  Value::List choices;
  for (std::size_t i = 0; i < job.choices.size(); ++i) choices.push_back(choice_value(job, i));
  Value::Table answer = head_of(job, std::move(choices));
  answer.push_back({"usage", usage_of(job)});
  job.exchange->answer({.body = io::write_json({std::move(answer)}, false)});
}

// ---- streams ------------------------------------------------------------------------------------

std::string event_of(Value::Table content) {
  return fmt::format("data: {}\n\n", io::write_json({std::move(content)}, false));
}

// A piece of text of a result; the first one of a chat names the role.
std::string piece_event(const CompletionJob& job, std::size_t index, const std::string& text,
                        bool is_first = false) {
  Value::Table choice{{"index", {static_cast<std::int64_t>(index)}}};
  if (job.is_chat) {
    Value::Table delta;
    if (is_first) delta.push_back({"role", text_value("assistant")});
    delta.push_back({"content", {text}});
    choice.push_back({"delta", {std::move(delta)}});
  } else {
    choice.push_back({"text", {text}});
  }
  choice.push_back({"logprobs", {}});
  choice.push_back({"finish_reason", {}});
  return event_of(head_of(job, {Value{std::move(choice)}}));
}

// The end of a result, with what is known only then.
std::string end_event(const CompletionJob& job, std::size_t index, Finish finish) {
  const Choice& done = job.choices[index];
  Value::Table choice{{"index", {static_cast<std::int64_t>(index)}}};
  if (job.is_chat) {
    choice.push_back({"delta", {Value::Table{}}});
  } else {
    choice.push_back({"text", text_value("")});
  }
  choice.push_back({"logprobs", logprobs_of(job, done)});
  choice.push_back({"finish_reason", text_value(name_of(finish))});
  return event_of(head_of(job, {Value{std::move(choice)}}));
}

// The rest of a result's text, and its end.
void end_choice(CompletionJob& job, std::size_t index) {
  Choice& choice = job.choices[index];
  HEED_CHECK(!choice.found.empty(), "[serve] the search found no text");
  const GeneratedText result = std::move(
      texts_of(job.generator(), job.prompts[choice.prompt], choice.options, choice.found)[0]);
  choice.teller->finish(result.text);
  job.exchange->write(end_event(job, index, result.hypothesis.finish));
}

void end_stream(CompletionJob& job) {
  Value usage = usage_of(job);
  if (job.sampling.stream_options.include_usage) {
    Value::Table last = head_of(job, {});
    last.push_back({"usage", std::move(usage)});
    job.exchange->write(event_of(std::move(last)));
  }
  job.exchange->write("data: [DONE]\n\n");
  job.exchange->end();
}

// The head of a stream and its first events.
HttpResponse prepare_stream(const CompletionJobPtr& job) {
  HttpResponse head{.content_type = "text/event-stream"};
  head.headers.emplace_back("Cache-Control", "no-store");
  head.headers.emplace_back("X-Accel-Buffering", "no");  // nginx passes events on at once
  for (std::size_t i = 0; i < job->choices.size(); ++i) {
    Choice& choice = job->choices[i];
    if (job->is_chat) head.body += piece_event(*job, i, "", true);
    choice.teller =
        std::make_unique<TextTeller>(job->generator(), job->prompts[choice.prompt], choice.options,
                                     [raw = job.get(), i](const std::string& text) {
                                       raw->exchange->write(piece_event(*raw, i, text));
                                     });
  }
  return head;
}

// ---- requests -----------------------------------------------------------------------------------

// A result is there: on a thread of the pool.
void finish_choice(const CompletionJobPtr& job, std::size_t index,
                   const std::exception_ptr& error) {
  if (job->sampling.stream) {
    answer_or_error(job->exchange, false, [&] {
      if (error) std::rethrow_exception(error);
      end_choice(*job, index);
    });
  }
  {
    const std::lock_guard lock(job->mutex);
    if (error && !job->error) job->error = error;
    if (--job->left > 0) return;
  }
  answer_or_error(job->exchange, false,
                  [&] { job->sampling.stream ? end_stream(*job) : answer(*job); });
}

Request request_for(const CompletionJobPtr& job, std::size_t index) {
  Choice& choice = job->choices[index];
  Request request = generation_request(job->generator(), job->prompts[choice.prompt],
                                       choice.options, choice.stream);
  if (job->sampling.stream) {
    request.on_token = [raw = job.get(), index](std::int32_t token) {
      raw->choices[index].teller->add(token);
    };
  }
  request.on_done = [job, index](NBest found, const std::exception_ptr& error) {
    ServedModel& model = *job->model;
    job->context.metrics.add_batch(model.name(), model.gauge().running + 1);
    model.release();
    job->choices[index].found = std::move(found);
    job->context.pool.post([=] { finish_choice(job, index, error); });
  };
  return request;
}

void submit(const CompletionJobPtr& job) {
  Scheduler& scheduler = job->model->scheduler();
  std::vector<Request> requests;
  for (std::size_t i = 0; i < job->choices.size(); ++i) {
    requests.push_back(request_for(job, i));
    scheduler.check(requests.back());
  }
  HttpResponse head;
  if (job->sampling.stream) head = prepare_stream(job);
  job->left = requests.size();
  reserve(*job->exchange, *job->model, std::ssize(requests));
  if (job->sampling.stream) job->exchange->begin(std::move(head));
  std::vector<std::int64_t> numbers = job->model->submit(std::move(requests));
  job->exchange->on_cancel([model = job->model, numbers = std::move(numbers)] {
    for (const std::int64_t number : numbers) model->scheduler().cancel(number);
  });
}

const TextGenerator& generator_of(const ServedModel& model) {
  if (model.generator() == nullptr) {
    throw ApiError(400, model.name() + " is no language model: choose another model");
  }
  return *model.generator();
}

// They are looked for after every token, on the threads that compute.
void check_stops(const Texts& stop) {
  constexpr std::size_t kMost = 16, kLongest = 256;
  if (stop.items.size() > kMost ||
      std::ranges::any_of(stop.items, [](const auto& text) { return text.size() > kLongest; })) {
    throw ApiError(
        400, fmt::format("stop: give at most {} strings of at most {} bytes", kMost, kLongest));
  }
}

void check_top(const Sampling& sampling, bool has_top) {
  if (has_top && sampling.temperature != 0.0) {
    throw ApiError(400,
                   "log-probabilities of the most probable tokens are there for a temperature of 0 "
                   "only, where they are the chosen ones: set temperature to 0, or ask for those "
                   "of the chosen tokens (logprobs 0 in completions, top_logprobs 0 in chats)");
  }
}

void run(const CompletionJobPtr& job) {
  check_top(job->sampling, job->has_top);
  check_stops(job->sampling.stop);
  std::random_device random;
  const std::uint64_t seed = job->sampling.seed
                                 ? static_cast<std::uint64_t>(*job->sampling.seed)
                                 : (static_cast<std::uint64_t>(random()) << 32 | random());
  job->id = fmt::format("{}-{:016x}{:08x}", job->is_chat ? "chatcmpl" : "cmpl",
                        static_cast<std::uint64_t>(random()) << 32 | random(), random());
  job->created = std::chrono::duration_cast<std::chrono::seconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  std::int64_t tokens = 0;
  for (std::size_t p = 0; p < job->prompts.size(); ++p) {
    const Prompt& prompt = job->prompts[p];
    tokens += std::ssize(prompt.tokens);
    check_tokens(tokens, job->context.config.limits);
    check_prompt(job->generator(), prompt);
    const GenerateOptions options = options_for(*job, prompt, seed);
    for (std::int64_t i = 0; i < job->sampling.n; ++i) {
      job->choices.push_back(
          {.prompt = p, .stream = static_cast<std::uint64_t>(i), .options = options});
    }
  }
  submit(job);
}

CompletionJobPtr new_job(const ApiContext& context, const ServedModels& models,
                         const std::string& model, const ExchangePtr& exchange) {
  CompletionJobPtr job(new CompletionJob{
      .context = context, .exchange = exchange, .model = find_model(models, model)});
  exchange->note([&](Facts& facts) { facts.model = model; });
  generator_of(*job->model);
  return job;
}

}  // namespace

void complete(const ApiContext& context, const ServedModels& models, const CompletionBody& body,
              const ExchangePtr& exchange) {
  const CompletionJobPtr job = new_job(context, models, body.model, exchange);
  job->sampling = body.sampling;
  job->has_logprobs = body.logprobs.has_value();
  job->has_top = body.logprobs.value_or(0) > 0;
  check_texts(body.prompt, context.config.limits, "prompt");
  for (const std::string& text : body.prompt.items) {
    job->prompts.push_back(read_prompt(job->generator(), text));
  }
  run(job);
}

void chat(const ApiContext& context, const ServedModels& models, const ChatBody& body,
          const ExchangePtr& exchange) {
  const CompletionJobPtr job = new_job(context, models, body.model, exchange);
  job->is_chat = true;
  job->sampling = body.sampling;
  if (body.max_completion_tokens) job->sampling.max_tokens = body.max_completion_tokens;
  job->has_logprobs = body.logprobs.value_or(false);
  job->has_top = job->has_logprobs && body.top_logprobs.value_or(0) > 0;
  job->json_object = body.response_format.type == AnswerFormat::json_object;
  if (body.messages.items.empty()) throw ApiError(400, "messages is missing or empty");
  std::size_t bytes = 0;
  for (const ChatMessage& message : body.messages.items) bytes += message.content.size();
  check_bytes(bytes, context.config.limits.source_tokens);
  require_chat(job->generator());
  job->prompts.push_back(read_chat(job->generator(), body.messages.items));
  run(job);
}

}  // namespace heed::serve
