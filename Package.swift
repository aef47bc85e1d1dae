// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode, warnings are errors, and imports are internal
/// unless a public declaration needs them.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioLocks = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")
let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")

let package = Package(
  name: "vocative",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .executable(name: "vocative", targets: ["vocative"]),
    .library(name: "NameMatching", targets: ["NameMatching"]),
    .library(name: "VocativeModel", targets: ["VocativeModel"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(
      url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0", traits: []),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
  ],
  targets: [
    // MARK: Pure layers
    .target(name: "VocativeModel", swiftSettings: strict),
    .target(name: "NameMatching", swiftSettings: strict, plugins: ["EmbedText"]),
    .target(name: "PostgresWire", dependencies: [collections], swiftSettings: strict),

    // MARK: System libraries
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),

    // MARK: Transport
    .target(
      name: "Postgres",
      dependencies: ["CLibPQ", "PostgresWire", nioLocks, log, lifecycle, collections],
      swiftSettings: strict),
    .target(
      name: "EmbeddedPostgres",
      dependencies: [.product(name: "Subprocess", package: "swift-subprocess"), log],
      swiftSettings: strict),
    .target(
      name: "TLSTransport",
      dependencies: [
        "COpenSSL", nio, nioPosix, nioLocks, log,
        .product(name: "NIOTLS", package: "swift-nio"),
      ],
      swiftSettings: strict),
    .target(
      name: "Identity",
      dependencies: [
        log, lifecycle, nio,
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
        .product(name: "X509", package: "swift-certificates"),
      ],
      swiftSettings: strict),

    .target(
      name: "Observability",
      dependencies: [log, .product(name: "CoreMetrics", package: "swift-metrics")],
      swiftSettings: strict),

    // MARK: The service
    .executableTarget(name: "embed-text", swiftSettings: strict),
    .plugin(name: "EmbedText", capability: .buildTool(), dependencies: ["embed-text"]),
    .target(
      name: "VocativeSQL", path: "sql", swiftSettings: strict, plugins: ["EmbedText"]),
    .target(
      name: "VocativeStorage",
      dependencies: [
        "VocativeModel", "VocativeSQL", "Postgres", "PostgresWire", log, lifecycle, nioLocks,
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: strict),
    .target(
      name: "VocativeServer",
      dependencies: [
        "VocativeModel", "NameMatching", "VocativeStorage", "Postgres", "PostgresWire", "Identity",
        "TLSTransport", "Observability", log, lifecycle, nio, nioLocks,
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdHTTP2", package: "hummingbird"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
      ],
      swiftSettings: strict, plugins: ["EmbedText"]),
    .executableTarget(
      name: "vocative",
      dependencies: [
        "VocativeServer", "VocativeStorage", "VocativeModel", "NameMatching", "EmbeddedPostgres",
        "Identity", "Postgres", "PostgresWire", "TLSTransport", "VocativeSQL", "Observability", log,
        lifecycle,
        nio,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "X509", package: "swift-certificates"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "vocative-quality", dependencies: ["NameMatching"], swiftSettings: strict),
    .executableTarget(
      name: "vocative-bench",
      dependencies: [
        "NameMatching",
        "Postgres", "PostgresWire", "EmbeddedPostgres", "VocativeModel", "VocativeStorage",
        "VocativeSQL", "VocativeServer", "TLSTransport", "Identity", nio, nioPosix, log, lifecycle,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),

    // MARK: Tests
    .target(
      name: "TestSupport",
      dependencies: ["EmbeddedPostgres", "Postgres", "PostgresWire", nio, nioPosix, log],
      path: "Tests/TestSupport", swiftSettings: strict),
    .testTarget(
      name: "VocativeModelTests", dependencies: ["VocativeModel", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "NameMatchingTests", dependencies: ["NameMatching", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PostgresWireTests", dependencies: ["PostgresWire", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PostgresTests", dependencies: ["Postgres", "PostgresWire", "TestSupport", log],
      swiftSettings: strict),
    .testTarget(
      name: "EmbeddedPostgresTests",
      dependencies: [
        "EmbeddedPostgres", "TestSupport", log,
        .product(name: "Subprocess", package: "swift-subprocess"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TLSTransportTests",
      dependencies: [
        "TLSTransport", "TestSupport", nio, nioPosix,
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "IdentityTests",
      dependencies: [
        "Identity", "TestSupport", log, lifecycle, nio, nioPosix,
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
        .product(name: "JWTKit", package: "jwt-kit"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "X509", package: "swift-certificates"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ObservabilityTests",
      dependencies: [
        "Observability", "TestSupport", log,
        .product(name: "CoreMetrics", package: "swift-metrics"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "VocativeStorageTests",
      dependencies: [
        "VocativeStorage", "VocativeModel", "VocativeSQL", "Postgres", "PostgresWire",
        "EmbeddedPostgres", "TestSupport", log, lifecycle,
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "VocativeServerTests",
      dependencies: [
        "VocativeServer", "VocativeModel", "VocativeStorage", "Identity", "Postgres",
        "PostgresWire", "TestSupport", log,
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "VocativeTests",
      dependencies: [
        "vocative", "TestSupport", log,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "X509", package: "swift-certificates"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SystemTests",
      dependencies: [
        "VocativeModel", "Identity", "TestSupport", "EmbeddedPostgres", "vocative", log, nio,
        nioPosix,
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
  ]
)
