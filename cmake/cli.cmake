# The program heed: cli/main.cpp and one file per verb.
find_package(CLI11 REQUIRED)

file(GLOB heed_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
if(heed_cli_sources)
  add_executable(heed_cli ${heed_cli_sources})
  set_target_properties(heed_cli PROPERTIES OUTPUT_NAME heed)
  target_link_libraries(heed_cli PRIVATE heed heed_serve heed_flags CLI11::CLI11)
  # A file of the program took ten seconds to compile, nine of them for CLI11.
  heed_precompile(heed_cli <CLI/CLI.hpp> <fmt/format.h>)
  heed_unite(heed_cli 8 ${heed_cli_sources})
  target_compile_options(heed_cli PRIVATE $<$<CONFIG:Release>:-O1>)
  if(TARGET heed_mpi)
    add_dependencies(heed_cli heed_mpi)
  endif()
  if(NOT PROJECT_IS_TOP_LEVEL)
    install(TARGETS heed_cli) # else cmake/package.cmake does
  endif()
  # PNG files; without librsvg the program says what to install when one is asked for.
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(rsvg IMPORTED_TARGET librsvg-2.0>=2.52 cairo)
  if(rsvg_FOUND)
    target_link_libraries(heed_cli PRIVATE PkgConfig::rsvg)
    set_source_files_properties(cli/png.cpp PROPERTIES COMPILE_DEFINITIONS HEED_WITH_RSVG)
  endif()
endif()

# heed_add_cli_test(NAME CODE ARGUMENT…): the program called like this ends with this exit code.
function(heed_add_cli_test name code)
  add_test(NAME cli.${name} COMMAND sh -c "\"$@\"; test $? -eq ${code}" sh $<TARGET_FILE:heed_cli>
                                    ${ARGN})
endfunction()

# heed_add_message_test(NAME TEXT ARGUMENT…): the program called like this says that.
function(heed_add_message_test name text)
  add_test(NAME cli.${name} COMMAND heed_cli ${ARGN})
  set_tests_properties(cli.${name} PROPERTIES PASS_REGULAR_EXPRESSION ${text})
endfunction()

# heed_add_score_test(FILE ARGUMENT…): `heed score` called like this prints this file of
# tests/golden/score, or begins with it where that is a table with heed's own words behind it.
function(heed_add_score_test expected)
  set(take "cat")
  if(expected MATCHES "^paired.*txt$")
    set(take "sed '/^$/,$d'")
  endif()
  add_test(NAME cli.score.${expected}
           COMMAND sh -c "file=$1; shift; \"$@\" | ${take} | cmp - $file" sh ${expected}
                   $<TARGET_FILE:heed_cli> score ${ARGN}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/golden/score)
endfunction()

if(heed_cli_sources AND HEED_BUILD_TESTS)
  heed_add_cli_test(version 0 --version)
  heed_add_cli_test(help 0 --help)
  heed_add_cli_test(no_verb 2)
  heed_add_cli_test(unknown_verb 2 dmeo)
  heed_add_message_test(slip_in_verb "no verb dmeo: did you mean demo" dmeo)
  heed_add_message_test(slip_below_verb "heed see: .* did you mean attention" see atention)
  heed_add_message_test(slip_in_flag "did you mean --positions" train --poistions rope)
  heed_add_message_test(flag_of_other_task "unknown key .transformer.classes" train --model=m
                        --classes=3)
  heed_add_cli_test(bad_flag 2 demo --updates=none)
  heed_add_cli_test(missing_file 1 inspect ${PROJECT_BINARY_DIR}/no-such-file)
  heed_add_cli_test(inspect 0 inspect ${PROJECT_SOURCE_DIR}/tests/golden/linear.safetensors)
  heed_add_cli_test(inspect_gguf 0 inspect ${PROJECT_SOURCE_DIR}/tests/golden/small.gguf)
  heed_add_cli_test(inspect_torch 0 inspect ${PROJECT_SOURCE_DIR}/tests/golden/torch_zip.bin)
  heed_add_cli_test(average_nothing 1 average -o ${PROJECT_BINARY_DIR}/mean)
  heed_add_cli_test(list 0 list)
  heed_add_cli_test(list_json 0 list --json)
  heed_add_cli_test(list_one 0 list multi_head)
  heed_add_cli_test(list_unknown 1 list mutli_head)
  heed_add_cli_test(see_pattern 0 see pattern multi_head -o ${PROJECT_BINARY_DIR}/pattern.svg)
  heed_add_cli_test(see_not_svg 1 see pattern multi_head -o ${PROJECT_BINARY_DIR}/pattern.txt)
  heed_add_cli_test(compare 0 compare --quick -o ${PROJECT_BINARY_DIR}/comparison.svg)
  heed_add_cli_test(compare_json 0 compare --quick --backward --recurrence=lstm --json)
  heed_add_cli_test(compare_bad_flag 2 compare --kernel=1)
  heed_add_cli_test(compare_falling 1 compare --sizes=64,32)
  heed_add_cli_test(compare_not_svg 1 compare --quick -o ${PROJECT_BINARY_DIR}/comparison.txt)
  set(corpus ${PROJECT_BINARY_DIR}/grammar)
  heed_add_cli_test(corpus_grammar 0 corpus grammar -n 200 --held-out 20 --seed 1 -o ${corpus})
  heed_add_cli_test(corpus_no_output 2 corpus grammar -n 200)
  heed_add_cli_test(corpus_check 0 corpus check ${corpus}.en ${corpus}.zh)
  heed_add_cli_test(corpus_unequal 1 corpus check ${corpus}.en ${corpus}.test.zh)
  heed_add_cli_test(corpus_skip 0 corpus check ${corpus}.en ${corpus}.test.zh --on-bad skip)
  heed_add_cli_test(corpus_bad_policy 2 corpus check ${corpus}.en ${corpus}.zh --on-bad mend)
  heed_add_cli_test(corpus_not_a_table 1 corpus check ${corpus}.en)
  set_tests_properties(cli.corpus_grammar PROPERTIES FIXTURES_SETUP grammar)
  set_tests_properties(cli.corpus_check cli.corpus_unequal cli.corpus_skip cli.corpus_not_a_table
                       PROPERTIES FIXTURES_REQUIRED grammar)
  # Training a few updates, going on, and translating with what came out.
  set(model ${PROJECT_BINARY_DIR}/cli_model)
  set(tiny --embed=20 --heads=2 --hidden=32 --positions=rope --encoder-layers=1 --decoder-layers=1
           --vocabulary.kind=words --batch-tokens=500)
  set(sets --train-sets ${corpus}.en ${corpus}.zh --valid-sets ${corpus}.test.en ${corpus}.test.zh)
  add_test(NAME cli.train_clean COMMAND ${CMAKE_COMMAND} -E rm -rf ${model} ${model}_none)
  heed_add_cli_test(train 0 train --model ${model} ${sets} ${tiny} --after=4u --valid-freq=2u)
  heed_add_cli_test(train_over 1 train --model ${model} ${sets} ${tiny} --after=6u)
  heed_add_cli_test(train_resume 0 train --model ${model} --resume --after=6u)
  heed_add_cli_test(train_no_folder 1 train ${sets})
  heed_add_cli_test(train_no_sets 1 train --model ${model}_none --after=6u)
  heed_add_cli_test(train_bad_format 2 train --model ${model}_none --log-format=xml)
  heed_add_cli_test(train_bad_flag 2 train --model ${model}_none --aftr=6u)
  heed_add_cli_test(train_bad_metric 1 train --model ${model}_none ${sets} --stop-on=blue)
  heed_add_cli_test(translate_no_model 1 translate --model ${model}_none)
  heed_add_cli_test(generate_no_model 1 generate --model ${model}_none)
  heed_add_cli_test(classify_no_model 1 classify --model ${model}_none)
  heed_add_cli_test(embed_no_model 1 embed --model ${model}_none)
  heed_add_cli_test(fill_no_model 1 fill --model ${model}_none)
  # $1 is the program, $2 the model, $3 the sentences: as many lines come out as go in.
  add_test(NAME cli.translate
           COMMAND sh -c "test $(\"$1\" translate --model \"$2\" < \"$3\" | wc -l) -eq 20" sh
                   $<TARGET_FILE:heed_cli> ${model} ${corpus}.test.en)
  set(see see attention "She has a dog." --model ${model})
  set(picture ${PROJECT_BINARY_DIR}/attention)
  heed_add_cli_test(see_attention_svg 0 ${see} -o ${picture}.svg)
  heed_add_cli_test(see_attention_html 0 ${see} -o ${picture}.html --beam-size=1)
  heed_add_cli_test(see_attention_one 0 ${see} -o ${picture}_one.svg --target 她有一只狗。 --kind=cross
                    --layer=1 --head=2)
  heed_add_cli_test(see_attention_ending 1 ${see} -o ${picture}.jpg)
  heed_add_cli_test(see_attention_layer 1 ${see} -o ${picture}_none.svg --layer=2)
  heed_add_cli_test(see_attention_both 1 ${see} -o ${picture}_none.svg --target=x --beam-size=2)
  heed_add_cli_test(see_attention_empty 1 see attention " " --model ${model} -o ${picture}_none.svg)
  heed_add_cli_test(see_attention_kind 2 ${see} -o ${picture}_none.svg --kind=self)
  heed_add_cli_test(see_attention_no_model 1 see attention x --model ${model}_none -o ${picture}.svg)
  set(see_tests svg html one layer both empty)
  # Fonts are never freed, which the leak checker would say.
  if(rsvg_FOUND AND NOT HEED_SANITIZE)
    heed_add_cli_test(see_attention_png 0 ${see} -o ${picture}.png)
    list(APPEND see_tests png)
  endif()
  list(TRANSFORM see_tests PREPEND cli.see_attention_)
  set_tests_properties(${see_tests} PROPERTIES FIXTURES_REQUIRED resumed)
  set_tests_properties(cli.train_clean PROPERTIES FIXTURES_SETUP clean_model)
  set_tests_properties(cli.train PROPERTIES FIXTURES_REQUIRED "grammar;clean_model" FIXTURES_SETUP
                                                                                    model)
  set_tests_properties(cli.train_over PROPERTIES FIXTURES_REQUIRED model)
  set_tests_properties(cli.train_resume PROPERTIES FIXTURES_REQUIRED model FIXTURES_SETUP resumed)
  set_tests_properties(cli.translate PROPERTIES FIXTURES_REQUIRED resumed)
  set_tests_properties(cli.train_over cli.train_resume PROPERTIES RESOURCE_LOCK model)
  heed_add_cli_test(see_curves 0 see curves ${model} ${model} -o ${PROJECT_BINARY_DIR}/curves.svg)
  heed_add_cli_test(see_curves_none 1 see curves ${corpus} -o ${PROJECT_BINARY_DIR}/curves.svg)
  set_tests_properties(cli.see_curves PROPERTIES FIXTURES_REQUIRED resumed)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME cli.train_killed COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/kill_test.py
                                         $<TARGET_FILE:heed_cli>)
  set_tests_properties(cli.train_killed PROPERTIES LABELS slow)
  add_test(NAME cli.ranks COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/ranks_test.py
                                  $<TARGET_FILE:heed_cli>)
  set_tests_properties(cli.ranks PROPERTIES LABELS slow)
  add_test(NAME cli.packed COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/packed_test.py
                                   $<TARGET_FILE:heed_cli>)
  set_tests_properties(cli.packed PROPERTIES LABELS slow)
  add_test(NAME cli.filters COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/filter_test.py
                                    $<TARGET_FILE:heed_cli>)
  add_test(NAME cli.encoders COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/encoders_test.py
                                     $<TARGET_FILE:heed_cli> ${PROJECT_SOURCE_DIR})
  add_test(NAME cli.pictures COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/pictures_test.py
                                     $<TARGET_FILE:heed_cli>)
  add_test(NAME cli.sequences COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/sequences_test.py
                                      $<TARGET_FILE:heed_cli>)
  add_test(NAME cli.serve COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/serve_test.py
                                  $<TARGET_FILE:heed_cli> ${PROJECT_SOURCE_DIR})
  # The interpreter of the Python package has the clients (python/requirements-test.txt).
  set(client_python ${Python3_EXECUTABLE})
  if(HEED_BUILD_PYTHON AND Python_EXECUTABLE)
    set(client_python ${Python_EXECUTABLE})
  endif()
  add_test(NAME cli.serve_clients COMMAND ${client_python} ${PROJECT_SOURCE_DIR}/tests/cli/serve_clients_test.py
                                          $<TARGET_FILE:heed_cli> ${PROJECT_SOURCE_DIR})
  add_test(NAME browser.serve COMMAND ${client_python} ${PROJECT_SOURCE_DIR}/tests/browser/serve_test.py
                                      $<TARGET_FILE:heed_cli> ${PROJECT_SOURCE_DIR})
  add_test(NAME cli.train_log COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/train_log_test.py
                                      $<TARGET_FILE:heed_cli>)
  add_test(NAME cli.train_refused COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/train_test.py
                                  $<TARGET_FILE:heed_cli>)
  add_test(NAME cli.how_to COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/cli/how_to_test.py
                                   $<TARGET_FILE:heed_cli> ${PROJECT_SOURCE_DIR})
  set_tests_properties(cli.how_to PROPERTIES LABELS slow)
  # Memory is limited there, and the sanitizers reserve more than that.
  if(NOT HEED_SANITIZE)
    add_test(NAME cli.program COMMAND ${Python3_EXECUTABLE}
                                      ${PROJECT_SOURCE_DIR}/tests/cli/program_test.py
                                      $<TARGET_FILE:heed_cli>)
  endif()
  set(text ${PROJECT_SOURCE_DIR}/README.md)
  set(vocab ${PROJECT_SOURCE_DIR}/tests/fuzz_corpus/tokenizer)
  set(codes ${PROJECT_SOURCE_DIR}/tests/fuzz_corpus/bpe_codes/version_2.txt)
  set(out ${PROJECT_BINARY_DIR}/vocab)
  heed_add_cli_test(vocab_pieces 0 vocab train ${text} --size=500 --model-type=bpe -o ${out}.model)
  heed_add_cli_test(vocab_words 0 vocab train ${text} --kind=words --min-count=2 -o ${out}.words)
  heed_add_cli_test(vocab_codes 0 vocab train ${text} --kind=subword_nmt --codes ${codes} -o
                    ${out}.bpe)
  heed_add_cli_test(vocab_too_large 1 vocab train ${text} --size=1000000 -o ${out}.large)
  heed_add_cli_test(vocab_no_codes 2 vocab train ${text} --kind=subword_nmt -o ${out}.none)
  heed_add_cli_test(vocab_wrong_flag 2 vocab train ${text} --kind=words --seed=2 -o ${out}.none)
  heed_add_cli_test(vocab_convert 0 vocab convert ${vocab}/counted.txt --codes ${codes} -o
                    ${out}.list)
  heed_add_cli_test(vocab_convert_model 1 vocab convert ${vocab}/small.model -o ${out}.none)
  heed_add_cli_test(vocab_show 0 vocab show ${vocab}/small.model)
  heed_add_cli_test(vocab_show_codes 1 vocab show ${codes})
  heed_add_cli_test(vocab_no_number 1 vocab decode ${text} --vocab ${vocab}/plain.txt --ids)
  # $1 is the program, $2 the tokenizer, $3 a flag or nothing.
  set(there "\"$1\" vocab encode --vocab \"$2\" $3")
  set(back "\"$1\" vocab decode --vocab \"$2\" $3")
  foreach(ids "" "--ids")
    add_test(NAME cli.vocab_round_trip${ids}
             COMMAND sh -c "test \"$(echo 'the do@@ g 狗' | ${there} | ${back})\" = 'the dog 狗'" sh
                     $<TARGET_FILE:heed_cli> ${vocab}/plain.txt ${ids})
  endforeach()
  # The calls of sacreBLEU that made the files are in tools/golden/score.py.
  set(one ref1.txt -i hyp1.txt)
  set(two ref1.txt ref2.txt -i hyp1.txt)
  set(all -m bleu chrf ter)
  heed_add_score_test(bleu.json ${one})
  heed_add_score_test(score_only.txt ${one} -b -w 4)
  heed_add_score_test(all.json ${two} ${all} -w 3)
  heed_add_score_test(all.txt ${one} -m ter chrf bleu -f text)
  heed_add_score_test(short.txt ${two} ${all} -f text --short -cw 2 -tok intl -s floor)
  heed_add_score_test(confidence.json ${two} ${all} --confidence --confidence-n 200 -w 8)
  heed_add_score_test(confidence.txt ${one} ${all} -ci -f text -lc)
  heed_add_score_test(sentences.txt ${one} -sl -tok zh)
  heed_add_score_test(two_systems.json ${one} hyp2.txt -m ter bleu chrf)
  heed_add_score_test(two_systems.txt ${one} hyp2.txt -m ter bleu chrf -f text)
  heed_add_score_test(two_systems.tex ${one} hyp2.txt -m bleu -f latex)
  heed_add_score_test(paired_bs.json ${two} hyp2.txt --paired-bs)
  heed_add_score_test(paired_bs.txt ${one} hyp2.txt -m ter bleu chrf -pbs -pbsn 100 -f text)
  heed_add_score_test(paired_ar.json ${two} hyp2.txt ${all} --paired-ar --paired-ar-n 500)
  set(score ${PROJECT_SOURCE_DIR}/tests/golden/score)
  set(links ${PROJECT_SOURCE_DIR}/tests/fuzz_corpus/alignments)
  heed_add_cli_test(score_missing 1 score ${score}/ref1.txt -i no-such-file)
  heed_add_cli_test(score_unequal 1 score ${score}/ref1.txt -i ${links}/pharaoh)
  heed_add_cli_test(score_empty 1 score /dev/null -i /dev/null)
  heed_add_cli_test(score_nothing 2 score)
  heed_add_cli_test(score_bad_metric 2 score ${score}/ref1.txt -m rouge)
  heed_add_cli_test(score_one_paired 1 score ${score}/ref1.txt -i ${score}/hyp1.txt --paired-bs)
  heed_add_cli_test(score_both_tests 2 score ${score}/ref1.txt --paired-bs --paired-ar)
  heed_add_cli_test(score_alignments 0 score --alignments ${links}/pharaoh ${links}/pharaoh)
  heed_add_cli_test(score_one_based 1 score --alignments --one-based ${links}/pharaoh
                    ${links}/pharaoh)
  heed_add_cli_test(score_no_links 1 score --alignments ${links}/pharaoh ${links}/bad_link)
  # A tab would begin a second system.
  add_test(NAME cli.score_stdin
           COMMAND sh -c "tr '\t' ' ' < hyp1.txt | $1 score ref1.txt | cmp - bleu.json" sh
                   $<TARGET_FILE:heed_cli> WORKING_DIRECTORY ${score})
  # From nothing, then once more: it shows what it has.
  add_test(NAME cli.demo
           COMMAND sh -c "rm -rf demo && $1 demo --folder demo --updates=20 --held-out=50 --sentences=3000 && \
$1 demo --folder demo --updates=20 --held-out=50 --sentences=3000 | grep -q BLEU && test -s demo/attention.html" sh
                   $<TARGET_FILE:heed_cli> WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  heed_add_cli_test(demo_other 1 demo --folder ${PROJECT_BINARY_DIR}/demo --updates=21)
  set_tests_properties(cli.demo PROPERTIES FIXTURES_SETUP demo)
  set_tests_properties(cli.demo_other PROPERTIES FIXTURES_REQUIRED demo)
endif()
