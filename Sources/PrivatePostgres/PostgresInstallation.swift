import Glibc

/// Where one version of PostgreSQL's programs is.
struct PostgresInstallation: Sendable {
    let folder: String

    var initdb: String { folder + "/initdb" }
    var postgres: String { folder + "/postgres" }

    /// The version that made the cluster in `dataFolder`, or the newest one if there is none yet.
    static func find(dataFolder: String) throws(PrivatePostgresError) -> PostgresInstallation {
        let debian = "/usr/lib/postgresql"
        let versions = Files.names(in: debian).filter { version in
            isComplete("\(debian)/\(version)/bin")
        }
        let inPath = unsafe (getenv("PATH").map { unsafe String(cString: $0) } ?? "")
            .split(separator: ":").map(String.init).first(where: isComplete)
        if let made = Files.text(dataFolder + "/PG_VERSION")?.split(separator: "\n").first {
            if versions.contains(String(made)) {
                return PostgresInstallation(folder: "\(debian)/\(made)/bin")
            }
            // The one in the path says itself what it thinks of the cluster.
            guard let inPath else { throw .versionNotInstalled(String(made)) }
            return PostgresInstallation(folder: inPath)
        }
        if let newest = versions.max(by: { number($0) < number($1) }) {
            return PostgresInstallation(folder: "\(debian)/\(newest)/bin")
        }
        guard let inPath else { throw .notInstalled }
        return PostgresInstallation(folder: inPath)
    }

    private static func isComplete(_ folder: String) -> Bool {
        Files.isExecutable(folder + "/initdb") && Files.isExecutable(folder + "/postgres")
    }

    private static func number(_ version: String) -> Double { Double(version) ?? 0 }
}
