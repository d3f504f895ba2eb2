// swift-tools-version: 6.2
import PackageDescription

/// One array for every target: the language is strict everywhere, and a warning is an error.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// Code that ships marks each unsafe line as `unsafe`. Its asynchronous functions stay on their caller's
/// executor: a writer that hands a batch on would else wait for whatever is ready before it, twice.
let shipped: [SwiftSetting] =
    settings + [.strictMemorySafety(), .enableUpcomingFeature("NonisolatedNonsendingByDefault")]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: shipped)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "CoinLedger",
    products: [
        .executable(name: "coinledger", targets: ["CoinLedgerCommand"]),
        .executable(name: "coinledger-bench", targets: ["CoinLedgerBench"]),
    ],
    targets: [
        // The system's libraries: a module map and a shim header each.
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CGMP", pkgConfig: "gmp", providers: [.apt(["libgmp-dev"])]),
        .systemLibrary(name: "CMimalloc", providers: [.apt(["libmimalloc-dev"])]),

        // What everything stands on: no I/O of the domain's, no domain.
        library("Base"),
        library("Telemetry", ["Base"]),
        library("EventLoop", ["Base", "Telemetry", "CLinux"]),

        // Row 0: the domain, which imports nothing, and drivers, which know no domain.
        library("CoinLedger"),
        library("CoinLedgerAPI", ["Base"]),
        library("AppStore", ["Base", "CGMP", "COpenSSL"]),
        library("Postgres", ["Base", "Telemetry", "EventLoop", "CPostgres"]),
        library("HTTPServer", ["Base", "Telemetry", "EventLoop", "CLinux", "CMicroHTTPD"]),

        // Row 1.
        library("EventStore", ["Base", "CoinLedger"]),
        library(
            "AppStoreConnection", ["Base", "AppStore", "Telemetry", "CCurl", "COpenSSL"]),

        // Row 2.
        library(
            "CoinLedgerService",
            ["Base", "CoinLedger", "EventStore", "AppStore", "AppStoreConnection", "Telemetry"]),
        .target(
            name: "LedgerSchema", path: "db",
            exclude: ["examples"],
            sources: ["LedgerSchema.swift"], resources: [.embedInCode("migrations")],
            swiftSettings: settings),
        library(
            "PostgresEventStore",
            [
                "Base", "CoinLedger", "EventLoop", "EventStore", "LedgerSchema", "Postgres",
                "Telemetry",
            ]),
        library("InMemoryEventStore", ["Base", "CoinLedger", "EventStore"]),

        // Row 3.
        .target(
            name: "CoinLedgerServer",
            dependencies: [
                "AppStore", "Base", "CoinLedger", "CoinLedgerAPI", "CoinLedgerService",
                "EventStore", "HTTPServer", "Telemetry",
            ],
            resources: [.embedInCode("Resources/openapi.json")], swiftSettings: shipped),

        // For development and tests; production code never imports these two.
        library(
            "AppStoreStandIn",
            [
                "Base", "AppStore", "AppStoreConnection", "COpenSSL", "EventLoop", "HTTPServer",
                "Telemetry",
            ]),
        library("PrivatePostgres", ["Base", "CLinux"]),

        // Row 4.
        .executableTarget(
            name: "CoinLedgerCommand",
            dependencies: [
                "AppStore", "AppStoreConnection", "AppStoreStandIn", "Base", "CLinux",
                "CMimalloc", "CoinLedger", "CoinLedgerAPI", "CoinLedgerServer", "CoinLedgerService",
                "EventLoop", "EventStore", "HTTPServer", "Postgres", "PostgresEventStore",
                "PrivatePostgres", "Telemetry",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "CoinLedgerBench",
            dependencies: [
                "AppStore", "AppStoreStandIn", "Base", "CMimalloc", "CoinLedger",
                "CoinLedgerService", "EventLoop", "EventStore", "Postgres", "PostgresEventStore",
                "PrivatePostgres", "Telemetry",
            ],
            swiftSettings: settings),

        // What tests share.
        .target(
            name: "TestSupport",
            dependencies: [
                "Base", "CLinux", "CPostgres", "EventLoop", "EventStore", "Postgres",
                "PostgresEventStore", "PrivatePostgres", "Telemetry",
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "LedgerTestSupport", dependencies: ["Base", "CoinLedger"],
            path: "Tests/LedgerTestSupport", swiftSettings: settings),

        tests("BaseTests", ["Base", "Telemetry"]),
        tests("AppStoreTests", ["AppStore", "AppStoreStandIn", "Base"]),
        tests(
            "AppStoreConnectionTests",
            [
                "AppStore", "AppStoreConnection", "AppStoreStandIn", "Base", "COpenSSL",
                "EventLoop", "Telemetry",
            ]),
        tests(
            "AppStoreStandInTests",
            [
                "AppStore", "AppStoreConnection", "AppStoreStandIn", "Base", "EventLoop",
                "HTTPServer", "Telemetry",
            ]),
        tests("CoinLedgerTests", ["Base", "CoinLedger", "LedgerTestSupport"]),
        tests("EventStoreTests", ["Base", "CoinLedger", "EventStore", "LedgerTestSupport"]),
        tests(
            "LedgerTests",
            [
                "AppStore", "AppStoreConnection", "AppStoreStandIn", "Base", "CoinLedger",
                "CoinLedgerService", "EventLoop", "EventStore", "InMemoryEventStore",
                "LedgerSchema", "LedgerTestSupport", "Postgres", "PostgresEventStore",
                "PrivatePostgres", "Telemetry", "TestSupport",
            ]),
        tests("EventLoopTests", ["Base", "EventLoop"]),
        tests(
            "HTTPServerTests",
            ["Base", "EventLoop", "HTTPServer", "Telemetry", "TestSupport"]),
        tests("PrivatePostgresTests", ["PrivatePostgres", "TestSupport"]),
        tests(
            "PostgresTests",
            ["Base", "EventLoop", "Postgres", "PrivatePostgres", "Telemetry", "TestSupport"]),
        tests(
            "CoinLedgerServerTests",
            [
                "AppStore", "AppStoreConnection", "AppStoreStandIn", "Base", "CoinLedger",
                "CoinLedgerAPI", "CoinLedgerServer", "CoinLedgerService", "EventLoop",
                "EventStore", "HTTPServer", "InMemoryEventStore", "LedgerTestSupport", "Telemetry",
                "TestSupport",
            ]),
        tests(
            "CoinLedgerCommandTests",
            [
                "AppStoreConnection", "AppStoreStandIn", "CoinLedgerCommand", "PrivatePostgres",
                "TestSupport",
            ]),
        tests(
            "EndToEndTests",
            [
                "AppStoreStandIn", "Base", "CoinLedger", "CoinLedgerCommand", "CoinLedgerServer",
                "EventLoop", "HTTPServer", "PrivatePostgres", "Telemetry", "TestSupport",
            ]),
    ]
)
