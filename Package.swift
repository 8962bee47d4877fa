// swift-tools-version: 6.2
// The targets are the architecture. docs/internals/architecture.md shows which target may import which, and
// scripts/check-imports checks every file.
import PackageDescription

/// `.ci/run` sets GRANDSTAND_STRICT=1, which turns warnings into errors. Other builds do not, because a newer compiler
/// may have new warnings.
let warnings: [SwiftSetting] =
    Context.environment["GRANDSTAND_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + warnings

// MARK: - Packages we stand on

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioConcurrency = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")

/// Built only on request (`make bench`), because users do not need them.
let benchmarks: [Target] =
    Context.environment["GRANDSTAND_BENCHMARKS"] != "1"
    ? []
    : [
        .executableTarget(
            name: "TransportBenchmark", dependencies: ["HTTP2", log],
            path: "Benchmarks/TransportBenchmark", swiftSettings: settings)
    ]

/// Built only by scripts/fuzz, with the compiler's fuzzing runtime.
let fuzzers: [Target] =
    Context.environment["GRANDSTAND_FUZZ"] != "1"
    ? []
    : [
        .executableTarget(
            name: "HTTP2Fuzzer",
            dependencies: ["Cryptography", "HTTP2", log, nioConcurrency, nioCore, nioEmbedded, nioTLS],
            path: "Tests/HTTP2Fuzzer", swiftSettings: settings)
    ]

let package = Package(
    name: "grandstand",
    // iOS is for the client's products. GrandstandLiveActivities marks the parts that need iOS 16.2 or newer.
    platforms: [.macOS(.v15), .iOS(.v15)],
    products: [
        .executable(name: "grandstand", targets: ["GrandstandCommand"]),
        .library(name: "GrandstandClient", targets: ["GrandstandClient"]),
        .library(name: "GrandstandLiveActivities", targets: ["GrandstandLiveActivities"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.3"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        // The system's C libraries.
        .systemLibrary(
            name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(
            name: "CNghttp2", pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"]), .brew(["libnghttp2"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),

        // Values and rules, without clocks, sockets or a database.
        .target(name: "APNsWire", swiftSettings: settings),
        .target(name: "JSON", swiftSettings: settings),
        .target(name: "GrandstandContract", dependencies: ["JSON"], swiftSettings: settings),
        .target(name: "Grandstand", dependencies: ["APNsWire", "GrandstandContract", "JSON"], swiftSettings: settings),

        // Transports and tools. They do not depend on Grandstand.
        .target(
            name: "Postgres", dependencies: ["CLibPQ", log], swiftSettings: settings),
        .target(name: "Cryptography", dependencies: ["COpenSSL"], swiftSettings: settings),
        .target(
            name: "HTTP2",
            dependencies: ["CNghttp2", "COpenSSL", "Cryptography", nioCore, nioPosix, nioConcurrency, nioTLS, log],
            swiftSettings: settings),
        .target(name: "EmbeddedPostgres", dependencies: [log], swiftSettings: settings),

        .target(name: "GrandstandMigrations", path: "migrations", swiftSettings: settings, plugins: ["EmbedFiles"]),
        // Compiles SQL files, templates and the like into the program: the plugin runs the tool, which writes Swift.
        .plugin(name: "EmbedFiles", capability: .buildTool(), dependencies: ["FileEmbedder"]),
        .executableTarget(name: "FileEmbedder", swiftSettings: settings),

        .target(
            name: "GrandstandServer",
            dependencies: [
                "APNsWire", "CCurl", "Cryptography", "EmbeddedPostgres", "Grandstand", "GrandstandContract",
                "GrandstandMigrations", "HTTP2", "JSON", "Postgres", configuration, httpTypes, hummingbird,
                hummingbirdCore, lifecycle, log, metrics, mustache, nioCore, nioHTTP1, nioPosix, signals,
            ],
            swiftSettings: settings, plugins: ["EmbedFiles"]),

        // The simulator of APNs, the API's client, and the command line.
        .target(
            name: "APNsSimulator",
            dependencies: [
                "APNsWire", "HTTP2", "JSON", "Cryptography", httpTypes, hummingbird, lifecycle, log, nioCore,
            ],
            swiftSettings: settings),
        .target(name: "GrandstandClient", dependencies: ["GrandstandContract", "JSON"], swiftSettings: settings),
        .target(name: "GrandstandLiveActivities", dependencies: ["GrandstandClient"], swiftSettings: settings),
        .executableTarget(
            name: "GrandstandCommand",
            dependencies: [
                "APNsSimulator", "APNsWire", "Grandstand", "GrandstandClient", "GrandstandContract",
                "GrandstandServer", "JSON", argumentParser, lifecycle, log, signals,
            ],
            swiftSettings: settings, plugins: ["EmbedFiles"]),

        // For tests.
        .target(
            name: "GrandstandTestKit",
            dependencies: [
                "APNsWire", "Cryptography", "EmbeddedPostgres", "Grandstand", "GrandstandContract", "GrandstandServer",
                "HTTP2", "JSON", "Postgres", log, nioCore, nioHTTP1, nioPosix,
            ],
            path: "Tests/GrandstandTestKit", swiftSettings: settings),
        // A server whose clock is wrong, for tests.
        .executableTarget(
            name: "SkewedServer", dependencies: ["GrandstandServer", log, signals], path: "Tests/SkewedServer",
            swiftSettings: settings),
        // Reads openapi.yaml for tests, and checks JSON against it.
        .target(name: "ContractKit", dependencies: ["JSON"], path: "Tests/ContractKit", swiftSettings: settings),
        .testTarget(name: "CryptographyTests", dependencies: ["Cryptography"], swiftSettings: settings),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: settings),
        .testTarget(
            name: "GrandstandCommandTests",
            dependencies: [
                "APNsWire", "Grandstand", "GrandstandCommand", "GrandstandServer", "GrandstandTestKit", "JSON",
                argumentParser,
            ],
            swiftSettings: settings),
        .testTarget(name: "APNsWireTests", dependencies: ["APNsWire"], swiftSettings: settings),
        .testTarget(
            name: "GrandstandTests", dependencies: ["APNsWire", "Grandstand", "GrandstandContract", "JSON"],
            swiftSettings: settings),
        .testTarget(
            name: "GrandstandServerTests",
            dependencies: [
                "APNsSimulator", "APNsWire", "ContractKit", "Cryptography", "Grandstand", "GrandstandCommand",
                "GrandstandContract", "GrandstandServer", "GrandstandTestKit", "HTTP2", "JSON", "Postgres",
                argumentParser, httpTypes, hummingbird, log, metrics, nioCore, nioEmbedded, nioHTTP1,
            ],
            swiftSettings: settings),
        // The parts of a phone, as fakes for tests: the system with ActivityKit, the server, the network, the time, the
        // disk and the keychain.
        .target(
            name: "PhoneFakes", dependencies: ["GrandstandClient", "GrandstandLiveActivities"],
            path: "Tests/PhoneFakes",
            swiftSettings: settings),
        // The code that the example's app and its widget extension share, without the files that need Apple's
        // frameworks.
        .target(name: "StadiumShared", path: "Examples/StadiumApp/Shared", swiftSettings: settings),
        .testTarget(
            name: "GrandstandLiveActivitiesTests",
            dependencies: [
                "Grandstand", "GrandstandClient", "GrandstandLiveActivities", "JSON", "PhoneFakes", "StadiumShared",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "GrandstandClientTests",
            dependencies: ["ContractKit", "GrandstandClient", "GrandstandContract", "JSON"],
            swiftSettings: settings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "APNsSimulator", "APNsWire", "Cryptography", "EmbeddedPostgres", "Grandstand", "GrandstandClient",
                "GrandstandCommand", "GrandstandContract", "GrandstandLiveActivities",
                "GrandstandServer", "GrandstandTestKit", "HTTP2", "JSON", "PhoneFakes", "Postgres", log,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PostgresTests", dependencies: ["EmbeddedPostgres", "GrandstandTestKit", "Postgres", log],
            swiftSettings: settings),
        .testTarget(
            name: "HTTP2Tests",
            dependencies: [
                "HTTP2", "CNghttp2", "COpenSSL", "Cryptography", log, nioConcurrency, nioCore, nioEmbedded, nioPosix,
                nioTLS,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EmbeddedPostgresTests", dependencies: ["EmbeddedPostgres", log], swiftSettings: settings),
        .testTarget(
            name: "APNsSimulatorTests",
            dependencies: ["APNsSimulator", "APNsWire", "GrandstandTestKit", "HTTP2", "JSON", "Cryptography", log],
            swiftSettings: settings),
    ] + benchmarks + fuzzers,
    swiftLanguageModes: [.v6]
)

/// Whether this package is built as a dependency of an app. SwiftPM then reads the manifest in one of two ways: from
/// the repository, where the package's folder is "/", or from a clone in a folder named `checkouts`. If you work in a
/// clone of your own in a folder named `checkouts`, set GRANDSTAND_WHOLE=1.
let isDependency =
    Context.environment["GRANDSTAND_WHOLE"] != "1"
    && (Context.packageDirectory == "/"
        || Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts")

// An app then builds only the client, and downloads none of the server's packages. scripts/check-dependency tests this.
if isDependency {
    let client: Set = ["JSON", "GrandstandContract", "GrandstandClient", "GrandstandLiveActivities"]
    package.targets.removeAll { !client.contains($0.name) }
    package.products.removeAll { $0.name == "grandstand" }
    package.dependencies = []
}

// The test targets to build; all if GRANDSTAND_TESTS is not set. Example: `GRANDSTAND_TESTS=JSONTests,GrandstandTests
// swift test`.
if let chosen = Context.environment["GRANDSTAND_TESTS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.isTest && !chosen.contains($0.name) }
}
