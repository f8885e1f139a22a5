"""Makes tests/golden/chat_templates.json: templates in the styles of common models, written for this test, and their
output by jinja2 with the settings of Hugging Face's apply_chat_template. For the templates inside real GGUF files only
the CRC-32 of the output is kept; they are read from $HEED_MODELS, else ~/.cache/heed-models.

  python3 -m venv build/venv-gguf && build/venv-gguf/bin/pip install gguf==0.19.0 jinja2==3.1.6
  build/venv-gguf/bin/python tools/golden/chat_templates.py
"""

import json
import os
import pathlib
import zlib

import gguf
import jinja2
import jinja2.ext
import jinja2.sandbox

GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "chat_templates.json"
MODELS = {
    "smollm2-135m-instruct": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "qwen2.5-coder-0.5b-instruct": "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
}

TEMPLATES = {
    "chatml": """{% for message in messages %}
{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim + '<|im_end|>' }}
{% endfor %}
{% if add_generation_prompt %}
{{ '<|im_start|>assistant' }}
{% endif %}
""",
    "llama3": """{{- bos_token }}
{#- A comment that leaves nothing. #}
{%- if messages[0].role == 'system' %}
    {%- set system = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is defined and tools is not none %}
    {{- "Environment: tools\\n" }}
    {%- for tool in tools %}
        {{- tool | tojson(indent=4) }}
        {{- "\\n\\n" if not loop.last else "\\n" }}
    {%- endfor %}
{%- endif %}
{{- system }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' ~ message['role'] ~ '<|end_header_id|>\\n\\n' ~ message['content'] | trim ~ '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if message.tool_calls | length != 1 %}
            {{- raise_exception("one tool call at a time") }}
        {%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '{"name": "' + call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- call.arguments | tojson }}
        {{- "}" }}
        {%- for name, value in call.arguments.items() %}
            {{- name + '="' ~ value ~ '"' }}
            {%- if not loop.last %}{{- ", " }}{%- endif %}
        {%- endfor %}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" %}
        {%- if message.content is mapping or (message.content is iterable and message.content is not string) %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""",
    "mistral": """{%- set ns = namespace(index=0, system='') -%}
{{ bos_token }}
{%- for message in messages -%}
  {%- if message['role'] == 'system' -%}
    {%- set ns.system = message['content'] + '\\n\\n' -%}
  {%- elif (message['role'] == 'user') != (ns.index % 2 == 0) -%}
    {{ raise_exception('roles must alternate user/assistant/user/…') }}
  {%- else -%}
    {%- if message['role'] == 'user' -%}
      {{ ' [INST] ' + ns.system + message['content'].strip() + ' [/INST]' }}
      {%- set ns.system = '' -%}
    {%- else -%}
      {{ ' ' + message['content'].strip() + eos_token }}
    {%- endif -%}
    {%- set ns.index = ns.index + 1 -%}
  {%- endif -%}
{%- endfor -%}
""",
    "gemma": """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}
{% for message in messages %}
{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}
{{ '<start_of_turn>' + role + '
' + message['content'] | trim + '<end_of_turn>
' }}{% endfor %}
{% if add_generation_prompt %}{{ '<start_of_turn>model
'}}{% endif %}
""",
    "features": """{#- white space -#}
   {%+ if true %} kept {% endif %}
{% set a, b = 3, [1, 2, 'x'] %}
{{ a // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 * 3.5 }} {{ 1 - 1 + 2 }} {{ -a }} {{ 1.0 if false else 'no' }}
{{ b }} {{ {'k': [none, true, 1.0], "it's": 'q"'} }} {{ b[-1] }}{{ b[5] }} {{ b[1:] }} {{ b[:-1] }} {{ 'abcdé狗'[-2:] }}
{{ 'abc'[::-1] }} {{ [3, 4, 5][::-1] }} {{ 'a,b,,c'.split(',') }} {{ '  a b  c '.split() }} {{ 'a-b-c'.split('-', 1) }}
{{ ' x '.strip() }}|{{ 'xxaxx'.lstrip('x') }}|{{ 'xxaxx'.rstrip('x') }}|{{ 'Abc Def'.upper() }}|{{ 'ABC É'.lower() }}
{{ "they're bill's friends".title() }}|{{ 'abc DEF' | capitalize }}|{{ 'aXbX'.replace('X', '--') }}|{{ 'aXb' | replace('X', '') }}
{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith('bc') }} {{ 'b' in 'abc' }} {{ 2 not in b }} {{ 'k' in {'k': 1} }}
{{ missing is defined }} {{ missing is undefined }} {{ none is none }} {{ 'a' is string }} {{ {} is mapping }} {{ 3 is number }}
{{ missing | default('d') }} {{ '' | default('e', true) }} {{ '' | d('f') }} {{ [1, 2] | join('+') }} {{ 'abc' | list }} {{ 'héllo' | length }}
{{ 'x' ~ 1 ~ none ~ true ~ 2.0 }} {{ 'a' 'b' }} {{ "\\u72d7\\x41\\t|" }} {{ 1 < 2 <= 2 != 3 }} {{ 'a' < 'b' }} {{ not 1 == 2 and 3 }}
{{ 0 or '' or 'last' }} {{ {'a': {'b': [10, 20]}}.a.b[1] }} {{ [[1, 2], [3]] | tojson }} {{ {'a': "é\\n\\"", 'b': 1.5, 'c': none} | tojson }}
{{ [] | tojson(indent=2) }} {{ {'a': [1, {'b': true}], 'e': {}} | tojson(indent=2) }}
{% for i in range(5) if i is odd %}{{ loop.index }}:{{ i }}{% if loop.first %} first{% endif %}{% if loop.last %} last{% endif %},{% else %}none{% endfor %}

{% for x in [] %}{% else %}empty{% endfor %}

{% for x in range(10) %}{% if x == 2 %}{% continue %}{% endif %}{% if x > 4 %}{% break %}{% endif %}{{ x }}{% endfor %}

{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{{ x }}{% endfor %}{{ x }}
{% set captured %}[{{ a }}]{% endset %}{{ captured ~ captured }}
{% for k, v in {'p': 1, 'q': 2}.items() %}{{ k }}={{ v }};{% endfor %} {{ {'p': 1}.get('z', 'none') }} {{ {'p': 1}.keys() | list }}
{{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | map(attribute='role') | join(',') }}
{{ (messages | first).role }} {{ messages[-1].content | upper | trim }} {{ '7' | int + 1 }} {{ 3 is divisibleby 3 }} {{ [1,2] + [3] }}
{%- if messages[0].nothing %}no{% elif a > 2 %}
  yes   {%- endif %}   {{- ' end ' -}}   .
{% generation %}in{% endgeneration %} {{ loop is defined }} {{ '%d' == '%d' }} {{ true }} {{ None }} {{ 100000000000000000.0 }} {{ 0.1 }}
""",
}

TALK = [{"role": "user", "content": "  Hello, how are you? "}, {"role": "assistant", "content": "Fine.\n"},
        {"role": "user", "content": "什么是\"attention\"?"}]
SYSTEM = [{"role": "system", "content": "Be brief. "}]
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Gets <the> weather's é",
                                           "parameters": {"city": {"type": "string"}, "days": 3}}}]
CALLS = SYSTEM + [{"role": "user", "content": "Weather?"},
                  {"role": "assistant", "content": "", "tool_calls": [
                      {"type": "function", "function": {"name": "weather", "arguments": {"city": "Köln", "days": 2}}}]},
                  {"role": "tool", "content": "rain"}, {"role": "tool", "content": "sun"},
                  {"role": "assistant", "content": "It rains."}]
CASES = {
    "talk": {"messages": TALK},
    "prompt": {"messages": TALK, "add_generation_prompt": True},
    "system": {"messages": SYSTEM + TALK, "add_generation_prompt": True},
    "tools": {"messages": SYSTEM + TALK, "tools": TOOLS, "add_generation_prompt": True},
    "calls": {"messages": CALLS, "tools": TOOLS},
    "wrong": {"messages": [TALK[1], TALK[0]]},
}


class Raised(Exception):
    pass


def environment():
    """As Hugging Face makes it."""
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                       extensions=["jinja2.ext.loopcontrols", Generation])

    def raise_exception(message):
        raise Raised(message)

    env.filters["tojson"] = lambda x, indent=None: json.dumps(x, ensure_ascii=False, indent=indent)
    env.globals["raise_exception"] = raise_exception
    return env


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body, lineno=line)


def run(template, variables):
    try:
        return {"output": template.render(**{"bos_token": "<s>", "eos_token": "</s>", **variables})}
    except Raised as problem:
        return {"error": str(problem)}


def main():
    env, result = environment(), {"cases": CASES, "templates": {}, "models": {}}
    for name, source in TEMPLATES.items():
        template = env.from_string(source)
        result["templates"][name] = {"source": source,
                                     "results": {case: run(template, v) for case, v in CASES.items()}}
    folder = pathlib.Path(os.environ.get("HEED_MODELS") or "~/.cache/heed-models").expanduser()
    for model, file in MODELS.items():
        fields = gguf.GGUFReader(folder / model / file).fields
        template = env.from_string(fields["tokenizer.chat_template"].contents())
        sums = {case: zlib.crc32(run(template, v)["output"].encode()) for case, v in CASES.items()}
        result["models"][model] = {"file": file, "crc32": sums}
    GOLDEN.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
