// The server of the shim: a loaded program that has not entered main() yet forks once for each
// request. A request is a line on standard input, with tabs between its words:
//
//   FOLDER OUTPUT ERRORS [NAME=VALUE…] -- [ARGUMENT…]
//
// The child works in FOLDER, prints to the files OUTPUT and ERRORS, and has these variables and
// arguments. The answer is two lines on standard output: "pid N", and "status N" (of waitpid) when
// the child has ended.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torture {

using Main = int (*)(int, char**, char**);

constexpr size_t kLongestRequest = 1 << 14;
constexpr int kMostWords = 200;

/// The words of the next request, with a null at their end; false after the last.
inline bool read_request(char* line, char** words) {
  size_t size = 0;
  for (; size < kLongestRequest; ++size) {
    if (read(0, line + size, 1) != 1) return false;
    if (line[size] == '\n') break;
  }
  if (size == kLongestRequest) return false;
  line[size] = '\0';
  int count = 0;
  for (char* word = line; word != nullptr && count + 1 < kMostWords;) {
    words[count++] = strsep(&word, "\t");
  }
  words[count] = nullptr;
  return count > 3;
}

/// Puts a file in the place of a standard stream.
inline void redirect(const char* path, int flags, int stream) {
  const int file = open(path, flags, 0666);
  if (file < 0 || dup2(file, stream) < 0) _exit(99);
  close(file);
}

/// The child of a request: runs the program.
inline int run_request(Main run, char* program, char** words) {
  redirect("/dev/null", O_RDONLY, 0);
  redirect(words[1], O_WRONLY | O_CREAT | O_TRUNC, 1);
  redirect(words[2], O_WRONLY | O_CREAT | O_TRUNC, 2);
  if (chdir(words[0]) != 0) _exit(99);
  words += 3;
  for (; *words != nullptr && strcmp(*words, "--") != 0; ++words) putenv(*words);
  *words = program;  // in the place of "--"
  int count = 0;
  while (words[count] != nullptr) ++count;
  return run(count, words, environ);
}

/// Serves until standard input ends. In a child it returns the exit code of the program.
inline int serve(Main run, char* program) {
  static char line[kLongestRequest];
  static char* words[kMostWords];
  const int answers = fcntl(1, F_DUPFD_CLOEXEC, 200);
  while (read_request(line, words)) {
    const pid_t child = fork();
    if (child < 0) return 98;
    if (child == 0) {
      close(answers);
      return run_request(run, program, words);
    }
    dprintf(answers, "pid %d\n", child);
    int status = 0;
    waitpid(child, &status, 0);
    dprintf(answers, "status %d\n", status);
  }
  return 0;
}

}  // namespace torture
