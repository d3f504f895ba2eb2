import CMimalloc
import Glibc

exit(Benchmark.main(Array(CommandLine.arguments.dropFirst())))
