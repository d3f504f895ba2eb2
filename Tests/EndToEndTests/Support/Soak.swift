import Glibc

/// Whether this is `scripts/soak`, which takes its time.
let isSoak = getenv("COINLEDGER_SOAK") != nil
