import Glibc

/// How many files and sockets this process may hold open.
enum DescriptorLimit {
    /// Takes as many as the administrator allows: systems begin with 1024 for the sake of programs
    /// that use `select`, and each client is one.
    static func raise() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        // Where that's refused, the server says how many connections are left to it.
        setrlimit(resource, &limit)
    }
}
