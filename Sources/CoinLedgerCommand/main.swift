import CMimalloc
import Glibc

// At once, and not with `exit`: OpenSSL and libcurl would clean up while threads of ours are just
// ending, which clean up as well, and free the same memory twice. Nothing is buffered here.
_exit(
    CommandLineTool.run(
        Array(CommandLine.arguments.dropFirst()), environment: ProcessEnvironment.all))
