#include "heed/text/jinja/interpreter.h"

#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/text/jinja/builtins.h"

namespace heed::jinja {
namespace {

constexpr std::int64_t kMaxRange = 100'000;  // of range(), as in Jinja's sandbox

// An error that already has its line.
class TemplateError : public Error {
 public:
  using Error::Error;
};

enum class Flow : std::uint8_t { next, skip, stop };  // what follows a statement: … continue, break

class Interpreter {
 public:
  Interpreter(const Dict& variables, std::string_view name, const RenderOptions& options)
      : name_(name), options_(options), scopes_{variables} {}

  std::string run(const Body& body) {
    run_body(body);
    return std::move(output_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(int line, fmt::format_string<Args...> format, Args&&... args) const {
    throw TemplateError(fmt::format("[chat template] {}, line {}: {}", name_, line,
                                    fmt::format(format, std::forward<Args>(args)...)));
  }

  void charge(int line, std::size_t bytes = 0) {
    steps_ += 1 + static_cast<std::int64_t>(bytes / 16);
    if (steps_ > options_.max_steps) {
      refuse(line, "the template takes more than {} steps", options_.max_steps);
    }
  }

  void print(int line, std::string_view text) {
    if (output_.size() + text.size() > options_.max_output) {
      refuse(line, "the output is longer than {} bytes", options_.max_output);
    }
    output_ += text;
  }

  Flow run_body(const Body& body) {
    for (const Statement& statement : body) {
      const Flow flow = run_statement(statement);
      if (flow != Flow::next) return flow;
    }
    return Flow::next;
  }

  Flow run_statement(const Statement& s) {
    charge(s.line);
    switch (s.kind) {
      case Statement::Kind::data:
        print(s.line, s.text);
        return Flow::next;
      case Statement::Kind::print:
        print(s.line, to_text(evaluate(*s.expression)));
        return Flow::next;
      case Statement::Kind::choose:
        for (const Branch& branch : s.branches) {
          if (!branch.condition || truthy(evaluate(*branch.condition)))
            return run_body(branch.body);
        }
        return Flow::next;
      case Statement::Kind::loop:
        return run_loop(s);
      case Statement::Kind::assign:
        assign(s, evaluate(*s.expression));
        return Flow::next;
      case Statement::Kind::capture: {
        std::string outer = std::exchange(output_, {});
        const Flow flow = run_body(s.body);
        assign(s, std::exchange(output_, std::move(outer)));
        return flow;
      }
      case Statement::Kind::skip:
        return Flow::skip;
      case Statement::Kind::stop:
        return Flow::stop;
      case Statement::Kind::group:
        return run_body(s.body);
    }
    __builtin_unreachable();
  }

  // A body of a loop has a scope of its own: what it sets is gone after the iteration.
  Flow run_loop(const Statement& s) {
    const Value sequence = evaluate(*s.expression);
    List items;
    for (const Value& item : guarded(s.line, [&] { return elements_of(sequence); })) {
      charge(s.line);
      if (s.filter) {
        scopes_.emplace_back();
        assign(s, item);
        const bool wanted = truthy(evaluate(*s.filter));
        scopes_.pop_back();
        if (!wanted) continue;
      }
      items.push_back(item);
    }
    if (items.empty()) return run_body(s.otherwise);
    for (std::size_t i = 0; i < items.size(); ++i) {
      scopes_.emplace_back();
      assign(s, items[i]);
      scopes_.back().set("loop", loop_state(items, i));
      const Flow flow = run_body(s.body);
      scopes_.pop_back();
      if (flow == Flow::stop) break;
    }
    return Flow::next;
  }

  static Value loop_state(const List& items, std::size_t i) {
    const auto index = static_cast<std::int64_t>(i), size = static_cast<std::int64_t>(items.size());
    Dict loop;
    loop.set("index", index + 1);
    loop.set("index0", index);
    loop.set("revindex", size - index);
    loop.set("revindex0", size - index - 1);
    loop.set("first", i == 0);
    loop.set("last", i + 1 == items.size());
    loop.set("length", size);
    loop.set("previtem", i == 0 ? Value(Undefined{"previtem"}) : items[i - 1]);
    loop.set("nextitem", i + 1 == items.size() ? Value(Undefined{"nextitem"}) : items[i + 1]);
    return loop;
  }

  void assign(const Statement& s, const Value& value) {
    if (s.targets.size() == 1) {
      assign_one(s.line, s.targets[0], value);
      return;
    }
    const List parts = guarded(s.line, [&] { return elements_of(value); });
    if (parts.size() != s.targets.size()) {
      refuse(s.line, "{} values for {} names", parts.size(), s.targets.size());
    }
    for (std::size_t i = 0; i < parts.size(); ++i) assign_one(s.line, s.targets[i], parts[i]);
  }

  void assign_one(int line, const std::string& target, const Value& value) {
    const std::size_t dot = target.find('.');
    if (dot == target.npos) {
      scopes_.back().set(target, value);
      return;
    }
    const Value object = look_up(target.substr(0, dot));
    Dict* space = object.mutable_dict();
    if (!space || !space->is_namespace) {
      refuse(line, "{} can be set on a namespace only", io::in_quotes(target));
    }
    if (value.dict() || value.list()) check_no_namespace(line, value);
    space->set(std::string_view(target).substr(dot + 1), value);
  }

  // A namespace inside a namespace could contain itself.
  void check_no_namespace(int line, const Value& value) {
    charge(line);
    if (const List* list = value.list()) {
      for (const Value& item : *list) check_no_namespace(line, item);
    } else if (const Dict* dict = value.dict()) {
      if (dict->is_namespace) refuse(line, "a namespace cannot hold a namespace");
      for (const auto& member : dict->members) check_no_namespace(line, member.second);
    }
  }

  Value look_up(std::string_view name) const {
    for (std::size_t i = scopes_.size(); i-- > 0;) {
      if (const Value* value = scopes_[i].find(name)) return *value;
    }
    return Undefined{std::string(name)};
  }

  // Adds the line to an error of a filter, test or method.
  template <typename F>
  auto guarded(int line, const F& f) const -> decltype(f()) {
    try {
      return f();
    } catch (const TemplateError&) {
      throw;
    } catch (const Error& error) {
      refuse(line, "{}", error.what());
    }
  }

  Value evaluate(const Expression& e) {
    charge(e.line);
    Value value = guarded(e.line, [&] { return compute(e); });
    if (const std::string* text = value.text()) charge(e.line, text->size());
    if (const List* list = value.list()) charge(e.line, 16 * list->size());
    return value;
  }

  Value compute(const Expression& e) {
    using Kind = Expression::Kind;
    switch (e.kind) {
      case Kind::literal:
        return e.value;
      case Kind::name:
        return look_up(e.text);
      case Kind::list: {
        List items;
        for (const ExpressionRef& part : e.parts) items.push_back(evaluate(*part));
        return items;
      }
      case Kind::dict:
        return make_dict(e);
      case Kind::attribute:
        return member_of(evaluate(*e.parts[0]), Value(e.text));
      case Kind::index: {
        const Value object = evaluate(*e.parts[0]);
        return member_of(object, evaluate(*e.parts[1]));
      }
      case Kind::slice:
        return slice(e);
      case Kind::call:
        return call(e);
      case Kind::filter: {
        const Value object = evaluate(*e.parts[0]);
        return apply_filter(e.text, object, arguments_of(e));
      }
      case Kind::test: {
        const Value object = evaluate(*e.parts[0]);
        return apply_test(e.text, object, arguments_of(e)) != e.negated;
      }
      case Kind::unary:
        return unary(e);
      case Kind::binary:
        return binary(e);
      case Kind::comparison:
        return comparison(e);
      case Kind::conditional:
        if (truthy(evaluate(*e.parts[1]))) return evaluate(*e.parts[0]);
        return e.parts[2] ? evaluate(*e.parts[2]) : Value(Undefined{"the missing else"});
    }
    __builtin_unreachable();
  }

  Value make_dict(const Expression& e) {
    Dict dict;
    for (std::size_t i = 0; i < e.parts.size(); i += 2) {
      const Value key = evaluate(*e.parts[i]);
      if (!key.text()) refuse(e.line, "a key of a dict is {}, expected a string", describe(key));
      dict.set(*key.text(), evaluate(*e.parts[i + 1]));
    }
    return dict;
  }

  Value slice(const Expression& e) {
    const Value object = evaluate(*e.parts[0]);
    Value bounds[3];
    for (std::size_t i = 0; i < 3; ++i) {
      if (e.parts[i + 1]) bounds[i] = evaluate(*e.parts[i + 1]);
    }
    return slice_of(object, &bounds[0], &bounds[1], &bounds[2]);
  }

  Arguments arguments_of(const Expression& e) {
    Arguments arguments;
    for (const Argument& argument : e.arguments) {
      if (argument.name.empty()) {
        arguments.positional.push_back(evaluate(*argument.value));
      } else {
        arguments.named.emplace_back(argument.name, evaluate(*argument.value));
      }
    }
    return arguments;
  }

  Value call(const Expression& e) {
    const Expression& callee = *e.parts[0];
    if (callee.kind == Expression::Kind::attribute) {
      const Value object = evaluate(*callee.parts[0]);
      return call_method(object, callee.text, arguments_of(e));
    }
    if (callee.kind != Expression::Kind::name) refuse(e.line, "only functions can be called");
    return call_function(e, callee.text, arguments_of(e));
  }

  Value call_function(const Expression& e, const std::string& name, const Arguments& arguments) {
    if (name == "raise_exception") {
      const Value* message = arguments.find(0, "message");
      refuse(e.line, "{}", message ? to_text(*message) : "the template raised an exception");
    }
    if (name == "namespace" || name == "dict") {
      if (!arguments.positional.empty()) refuse(e.line, "{} needs named values", name);
      Dict dict;
      for (const auto& [key, value] : arguments.named) {
        if (name == "namespace") check_no_namespace(e.line, value);
        dict.set(key, value);
      }
      dict.is_namespace = name == "namespace";
      return dict;
    }
    if (name == "range") return range(e, arguments);
    if (name == "strftime_now") {
      const Value* format = arguments.find(0, "format");
      if (!options_.strftime_now) {
        refuse(e.line, "strftime_now needs a date: give RenderOptions::strftime_now");
      }
      return options_.strftime_now(format ? to_text(*format) : "");
    }
    refuse(e.line,
           "the function {} is not supported: heed knows namespace, dict, range, raise_exception "
           "and strftime_now",
           io::in_quotes(name));
  }

  Value range(const Expression& e, const Arguments& arguments) {
    const std::size_t count = arguments.positional.size();
    std::int64_t bounds[3] = {0, 0, 1};
    if (count == 0 || count > 3) refuse(e.line, "range needs one to three integers");
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t* n = arguments.positional[i].integer();
      if (!n || std::abs(*n) > kMaxRange) {
        refuse(e.line, "range needs integers up to {}", kMaxRange);
      }
      bounds[count == 1 ? 1 : i] = *n;
    }
    if (bounds[2] == 0) refuse(e.line, "the step of range is 0");
    List numbers;
    for (std::int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1];
         i += bounds[2]) {
      charge(e.line);
      numbers.emplace_back(i);
    }
    return numbers;
  }

  Value unary(const Expression& e) {
    const Value x = evaluate(*e.parts[0]);
    if (e.text == "not") return !truthy(x);
    if (const std::int64_t* n = x.integer()) {
      std::int64_t negative = 0;
      if (e.text == "+") return *n;
      if (__builtin_sub_overflow(std::int64_t{0}, *n, &negative)) refuse(e.line, "- overflows");
      return negative;
    }
    const auto number = x.number();
    if (!number) refuse(e.line, "{} needs a number, found {}", e.text, describe(x));
    return e.text == "-" ? -*number : *number;
  }

  Value binary(const Expression& e) {
    const Value a = evaluate(*e.parts[0]);
    if (e.text == "and") return truthy(a) ? evaluate(*e.parts[1]) : a;
    if (e.text == "or") return truthy(a) ? a : evaluate(*e.parts[1]);
    const Value b = evaluate(*e.parts[1]);
    if (e.text == "~") return to_text(a) + to_text(b);
    if (e.text == "+" && a.text() && b.text()) return *a.text() + *b.text();
    if (e.text == "+" && a.list() && b.list()) {
      List joined = *a.list();
      joined.insert(joined.end(), b.list()->begin(), b.list()->end());
      return joined;
    }
    return arithmetic(e, a, b);
  }

  Value arithmetic(const Expression& e, const Value& a, const Value& b) const {
    const auto x = a.number(), y = b.number();
    for (const Value* value : {&a, &b}) {
      if (value->undefined()) {
        refuse(e.line, "{} is undefined", io::in_quotes(std::get<Undefined>(value->data).name));
      }
    }
    if (!x || !y)
      refuse(e.line, "{} {} {}: the types do not fit", describe(a), e.text, describe(b));
    const char op = e.text == "//" ? 'i' : e.text[0];
    if ((op == '/' || op == 'i' || op == '%') && *y == 0) refuse(e.line, "division by 0");
    if (a.integer() && b.integer() && op != '/') return whole(e, op, *a.integer(), *b.integer());
    switch (op) {
      case '+':
        return *x + *y;
      case '-':
        return *x - *y;
      case '*':
        return *x * *y;
      case '/':
        return *x / *y;
      case 'i':
        return std::floor(*x / *y);
      default:
        return *x - *y * std::floor(*x / *y);
    }
  }

  Value whole(const Expression& e, char op, std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    bool overflow = false;
    switch (op) {
      case '+':
        overflow = __builtin_add_overflow(a, b, &result);
        break;
      case '-':
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
      case '*':
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
      default:
        overflow = b == -1 && a == INT64_MIN;
        if (overflow) break;
        // Python rounds down; the remainder has the sign of b.
        const std::int64_t remainder = a % b;
        const bool adjust = remainder != 0 && (remainder < 0) != (b < 0);
        result = op == '%' ? remainder + (adjust ? b : 0) : a / b - (adjust ? 1 : 0);
    }
    if (overflow) refuse(e.line, "{} {} {} overflows", a, e.text, b);
    return result;
  }

  Value comparison(const Expression& e) {
    Value left = evaluate(*e.parts[0]);
    for (std::size_t i = 0; i < e.operators.size(); ++i) {
      Value right = evaluate(*e.parts[i + 1]);
      if (!compare(e, e.operators[i], left, right)) return false;
      left = std::move(right);
    }
    return true;
  }

  bool compare(const Expression& e, const std::string& op, const Value& a, const Value& b) const {
    if (op == "==") return equal(a, b);
    if (op == "!=") return !equal(a, b);
    if (op == "in") return contains(e, b, a);
    if (op == "not in") return !contains(e, b, a);
    const auto x = a.number(), y = b.number();
    const bool texts = a.text() && b.text();
    if (!texts && !(x && y)) {
      refuse(e.line, "{} {} {}: the types do not fit", describe(a), op, describe(b));
    }
    const int order = texts ? a.text()->compare(*b.text()) : *x < *y ? -1 : *x > *y ? 1 : 0;
    if (op == "<") return order < 0;
    if (op == "<=") return order <= 0;
    return op == ">" ? order > 0 : order >= 0;
  }

  bool contains(const Expression& e, const Value& whole, const Value& part) const {
    if (const std::string* text = whole.text()) {
      if (!part.text()) refuse(e.line, "{} in a string: expected a string", describe(part));
      return text->find(*part.text()) != text->npos;
    }
    if (const Dict* dict = whole.dict()) return part.text() && dict->find(*part.text());
    for (const Value& item : elements_of(whole)) {
      if (equal(item, part)) return true;
    }
    return false;
  }

  std::string_view name_;
  const RenderOptions& options_;
  std::vector<Dict> scopes_;
  std::string output_;
  std::int64_t steps_ = 0;
};

}  // namespace

std::string render(const Body& body, const Dict& variables, std::string_view name,
                   const RenderOptions& options) {
  return Interpreter(variables, name, options).run(body);
}

}  // namespace heed::jinja
