# Installs heed into a fresh prefix and configures, builds and runs examples/consumer against it.
# Run as: cmake -D BUILD=… -D SOURCE=… -D GENERATOR=… -D COMPILER=… -P consumer_test.cmake
set(work ${BUILD}/consumer)
file(REMOVE_RECURSE ${work})

function(must_run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

must_run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
must_run(
  ${CMAKE_COMMAND}
  -G ${GENERATOR}
  -S ${SOURCE}/examples/consumer
  -B ${work}/build
  -D CMAKE_BUILD_TYPE=Release
  -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_PREFIX_PATH=${work}/prefix)
must_run(${CMAKE_COMMAND} --build ${work}/build)
must_run(${work}/build/consumer)
