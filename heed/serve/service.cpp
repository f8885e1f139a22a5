#include "heed/serve/service.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/serve/api_error.h"
#include "heed/serve/page.h"

namespace heed::serve {
namespace {

// Requests that wait for a thread that reads them; more than the models accept is of no use.
constexpr std::size_t kWaitingRequests = 4096;
constexpr std::size_t kWaitingViews = 64;

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";

// The key in the headers of a request.
std::string_view key_of(const HttpRequest& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view text = request.authorization;
  return text.starts_with(kBearer) ? text.substr(kBearer.size())
                                   : std::string_view(request.api_key);
}

ApiError bad_key(Api api, bool is_missing) {
  const std::string message = is_missing ? "an API key is needed" : "the API key is not valid";
  // LibreTranslate answers 403.
  return {api == Api::translate ? 403 : 401, message, "invalid_api_key"};
}

void answer_text(Exchange& exchange, std::string text) {
  exchange.answer({.body = std::move(text), .content_type = std::string(kPlainText)});
}

template <io::Section Body>
std::vector<io::FieldInfo> fields_of() {
  return io::list_fields(Body{});
}

}  // namespace

Api api_of(std::string_view path) {
  if (path.starts_with("/v1/")) return Api::openai;
  return path == "/translate" ? Api::translate : Api::plain;
}

// ---- the list of paths --------------------------------------------------------------------------

const std::vector<Service::Route>& Service::routes() {
  using S = Service;
  using X = ExchangePtr;
  static const std::vector<Route> kRoutes = {
      {"GET", "/", "The page to try the models", false, false,
       [](S&, const X& exchange, const State&) { answer_page(*exchange); }},
      {"POST", "/translate", "Translate texts", true, true,
       [](S& service, const X& exchange, const State& state) {
         const auto body = read_body<TranslateBody>(exchange->request);
         if (exchange->needs_key) {
           service.admit(*exchange, state.keys, body.api_key.value_or(""));
         }
         translate(service.context_, state.models, body, exchange);
       },
       fields_of<TranslateBody>},
      {"GET", "/languages", "The languages of the translators", false, false,
       [](S&, const X& exchange, const State& state) {
         exchange->answer({.body = languages_json(state.models)});
       }},
      {"GET", "/frontend/settings", "Settings for clients of LibreTranslate", false, false,
       [](S& service, const X& exchange, const State& state) {
         exchange->answer({.body = settings_json(service.config_, state.models)});
       }},
      {"GET", "/v1/models", "The models", true, false,
       [](S&, const X& exchange, const State& state) {
         exchange->answer({.body = models_json(state.models)});
       }},
      {"POST", "/v1/completions", "Continue texts", true, true,
       [](S& service, const X& exchange, const State& state) {
         complete(service.context_, state.models, read_body<CompletionBody>(exchange->request),
                  exchange);
       },
       fields_of<CompletionBody>},
      {"POST", "/v1/chat/completions", "Answer a chat", true, true,
       [](S& service, const X& exchange, const State& state) {
         chat(service.context_, state.models, read_body<ChatBody>(exchange->request), exchange);
       },
       fields_of<ChatBody>},
      {"POST", "/v1/embeddings", "Vectors of texts", true, true,
       [](S& service, const X& exchange, const State& state) {
         embed_texts(service.context_, state.models, read_body<EmbeddingBody>(exchange->request),
                     exchange);
       },
       fields_of<EmbeddingBody>},
      {"POST", "/v1/attention", "Attention weights of a text", true, true,
       [](S& service, const X& exchange, const State& state) {
         show_attention(service.context_, state.models, read_body<AttentionBody>(exchange->request),
                        exchange);
       },
       fields_of<AttentionBody>},
      {"GET", "/healthz", "Whether the process runs", false, false,
       [](S&, const X& exchange, const State&) { answer_text(*exchange, "ok\n"); }},
      {"GET", "/readyz", "Whether requests are accepted", false, false,
       [](S& service, const X& exchange, const State&) {
         if (service.is_stopping_) throw try_again(503, "the server stops", 5, "stopping");
         answer_text(*exchange, "ready\n");
       }},
      {"GET", "/metrics", "Numbers for Prometheus", false, false,
       [](S& service, const X& exchange, const State& state) {
         std::vector<ModelGauge> gauges;
         for (const ServedModelPtr& model : state.models) gauges.push_back(model->gauge());
         exchange->answer({.body = service.metrics_.text(gauges),
                           .content_type = "text/plain; version=0.0.4; charset=utf-8"});
       }},
      {"GET", "/openapi.json", "This description", false, false,
       [](S&, const X& exchange, const State&) { exchange->answer({.body = openapi_json()}); }},
  };
  return kRoutes;
}

// ---- models -------------------------------------------------------------------------------------

Service::Service(const ServeConfig& config)
    : config_(config),
      log_(config.access_log),
      limits_({.at_once = config.limits.requests_per_client,
               .texts = config.limits.texts_per_client,
               .per_minute = config.limits.per_minute,
               .bad_keys_per_minute = config.limits.bad_keys_per_minute}),
      state_(load(config)),
      pool_(2, kWaitingRequests),
      viewers_(1, kWaitingViews),
      context_{.config = config_, .metrics = metrics_, .pool = pool_, .viewers = viewers_} {}

Service::~Service() { close(); }

// The end of a request runs on the pool, so the models stop while the pool is there.
void Service::close() {
  stop();
  pool_.wait_idle();
  viewers_.wait_idle();
  std::vector<std::shared_ptr<const State>> states;
  {
    const std::lock_guard lock(mutex_);
    states = retired_;
    states.push_back(state_);
  }
  for (const auto& state : states) {
    for (const ServedModelPtr& model : state->models) model->stop();
  }
  pool_.wait_idle();
}

std::shared_ptr<const Service::State> Service::load(const ServeConfig& config) {
  config.validate();
  HEED_CHECK(!config.models.empty(),
             "[serve] no models: name at least one, as in --model "
             "NAME=FOLDER");
  auto state = std::make_shared<State>();
  if (!config.keys.empty()) state->keys = load_keys(config.keys);
  for (const std::string& text : config.models) {
    state->models.push_back(std::make_shared<ServedModel>(parse_model(text), config));
  }
  return state;
}

std::shared_ptr<const Service::State> Service::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Service::reload(const ServeConfig& fresh) {
  try {
    std::shared_ptr<const State> next = load(fresh);
    log_.reopen();
    const std::lock_guard lock(mutex_);
    std::swap(state_, next);
    retired_.push_back(std::move(next));
  } catch (...) {
    ++metrics_.failed_reloads;
    throw;
  }
  ++metrics_.reloads;
}

// A model ends on the thread that drops it last. Its own threads must not be that, so it is kept
// here until no request has it. The network's must not be that either, since it takes a while.
void Service::tidy() {
  std::vector<std::shared_ptr<const State>> unused;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(retired_, [&](const std::shared_ptr<const State>& state) {
      const bool is_used = state.use_count() > 1 ||
                           std::ranges::any_of(state->models, [](const ServedModelPtr& model) {
                             return model.use_count() > 1;
                           });
      if (!is_used) unused.push_back(state);
      return !is_used;
    });
  }
  if (!unused.empty()) viewers_.post([unused = std::move(unused)] {});
  limits_.forget_idle();
}

// ---- requests -----------------------------------------------------------------------------------

// Sets the form of errors and what the log calls the path. Throws ApiError (404, 405).
const Service::Route* Service::find_route(Exchange& exchange) const {
  const HttpRequest& request = exchange.request;
  exchange.api = api_of(request.path);
  const std::string_view method =
      request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
  std::string allowed;
  for (const Route& route : routes()) {
    if (route.path != request.path) continue;
    exchange.note([&](Facts& facts) { facts.route = std::string(route.path); });
    if (route.method == method) return &route;
    allowed += std::string(allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  if (allowed.empty()) throw ApiError(404, "there is nothing at this path: see /openapi.json");
  exchange.headers.emplace_back("Allow", allowed + ", OPTIONS");
  if (request.method == "OPTIONS") return nullptr;
  throw ApiError(405, "this path takes " + allowed);
}

void Service::allow_origin(Exchange& exchange) const {
  const std::string& origin = exchange.request.origin;
  const bool is_any = std::ranges::find(config_.cors, "*") != config_.cors.end();
  if (origin.empty() || config_.cors.empty()) return;
  if (!is_any && std::ranges::find(config_.cors, origin) == config_.cors.end()) return;
  exchange.headers.emplace_back("Access-Control-Allow-Origin", is_any ? "*" : origin);
  exchange.headers.emplace_back("Vary", "Origin");
  if (exchange.request.method != "OPTIONS") return;
  exchange.headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  exchange.headers.emplace_back("Access-Control-Allow-Headers",
                                "Authorization, Content-Type, X-API-Key");
  exchange.headers.emplace_back("Access-Control-Max-Age", "600");
}

void Service::admit(Exchange& exchange, const Keys& keys, std::string_view key) {
  std::string client = client_of(exchange.request.address);
  std::optional<double> per_minute;
  if (!keys.empty()) {
    limits_.check_tries(client);
    const KeyEntry* const entry = keys.find(key);
    if (entry == nullptr) {
      limits_.note_bad_key(client);
      throw bad_key(exchange.api, key.empty());
    }
    client = entry->name;
    per_minute = entry->per_minute;
  }
  exchange.note([&](Facts& facts) { facts.client = client; });
  exchange.hold(limits_.enter(client, per_minute));
}

// Until the key of a request is known, its address has a place in the limits.
void Service::admit_unknown(Exchange& exchange) {
  const std::string address = client_of(exchange.request.address);
  limits_.check_tries(address);
  exchange.hold(limits_.enter(address, 0.0));
  exchange.needs_key = true;
}

// Under overload most requests are refused, so that is done before anything of them is read: here
// if no model can take more, else when the model is known.
void Service::compute(const ExchangePtr& exchange, const Route& route) {
  if (is_stopping_) throw try_again(503, "the server stops", 5, "stopping");
  const bool is_full = std::ranges::all_of(state()->models, [&](const ServedModelPtr& model) {
    const ModelGauge gauge = model->gauge();
    return gauge.waiting + gauge.running >= config_.limits.queue;
  });
  if (is_full) throw try_again(503, "all models have too much to do", 1, "queue");
  const bool is_accepted = pool_.try_post([this, exchange, &route] {
    if (exchange->is_cancelled()) return;
    answer_or_error(exchange, true, [&] { route.run(*this, exchange, *state()); });
  });
  if (!is_accepted) throw try_again(503, "the server has too much to do", 1, "queue");
}

void Service::handle(const ExchangePtr& exchange) {
  ++metrics_.in_progress;
  try {
    allow_origin(*exchange);
    const Route* const route = find_route(*exchange);
    if (route == nullptr) return exchange->answer({.status = 204});
    const std::shared_ptr<const State> now = state();
    const std::string_view key = key_of(exchange->request);
    // The key of a translation may be in its body, which is read later.
    const bool is_in_body = key.empty() && exchange->api == Api::translate && !now->keys.empty();
    if (is_in_body) {
      admit_unknown(*exchange);
    } else if (route->needs_key) {
      admit(*exchange, now->keys, key);
    }
    if (route->computes) return compute(exchange, *route);
    route->run(*this, exchange, *now);
  } catch (...) {
    refuse(*exchange, current_error(true));
  }
}

void Service::reject(Exchange& exchange, const ApiError& error) {
  ++metrics_.in_progress;
  exchange.api = api_of(exchange.request.path);
  refuse(exchange, error);
}

void Service::finished(Exchange& exchange, const AnswerFacts& answer) {
  --metrics_.in_progress;
  // The next request of the client may come before the last thread has dropped this one. If the
  // client has left, its place is free when the work has ended.
  if (answer.is_complete) exchange.release();
  const Facts facts = exchange.facts();
  metrics_.answered(facts.route, answer.status, answer.seconds);
  if (!facts.refusal.empty()) metrics_.refused(facts.refusal);
  log_.add(exchange.request, facts, answer);
}

}  // namespace heed::serve
