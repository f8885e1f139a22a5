"""heed behind the shim, loaded once: each run is a fork of the loaded program (shim_serve.h). Starting and linking the
program took most of the time of a small job."""

import os
import subprocess
import threading

import patience
import session as s


class Server:
    """One loaded program. It runs one job at a time."""

    def __init__(self, program, shim, folder, number):
        self.files = [folder / f"served-{number}.{name}" for name in ("out", "err")]
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder,
                                        env={**os.environ, "LD_PRELOAD": shim, "TORTURE_SERVE": "1"})

    def answer(self, word):
        """The number of an answer."""
        line = self.process.stdout.readline().split()
        if len(line) != 2 or line[0] != word.encode():
            raise RuntimeError(f"the server of the shim answers {line} rather than {word}")
        return int(line[1])

    def run(self, arguments, folder, env, cpu_seconds):
        """Runs the program to its end, unless it hangs."""
        variables = [f"{name}={value}" for name, value in env.items()]
        request = "\t".join(map(str, [folder, *self.files, *variables, "--", *arguments])) + "\n"
        self.process.stdin.write(request.encode())
        self.process.stdin.flush()
        with patience.Watch(self.answer("pid"), cpu_seconds) as watch:
            status = self.answer("status")
        out, err = (path.read_bytes() for path in self.files)
        return s.Done(None if watch.hung else os.waitstatus_to_exitcode(status), out, err)

    def close(self):
        """Ends the program."""
        self.process.stdin.close()
        self.process.wait()


class Servers:
    """A server for each thread that asks."""

    def __init__(self, program, shim, folder):
        self.how = (program, shim, folder)
        self.own = threading.local()
        self.all = []
        self.lock = threading.Lock()

    def run(self, *arguments):
        """Runs the program on the server of this thread."""
        if not hasattr(self.own, "server"):
            with self.lock:
                self.own.server = Server(*self.how, len(self.all))
                self.all.append(self.own.server)
        return self.own.server.run(*arguments)

    def close(self):
        """Ends all servers."""
        for server in self.all:
            server.close()
