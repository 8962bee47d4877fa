internal import APNsWire
internal import Foundation
internal import Grandstand
internal import HTTP2
internal import Logging
internal import Testing

@testable internal import GrandstandServer

/// Every setting: its default, its value, and the error for an invalid value.
struct ConfigurationTests {
    /// A file that can be read on every machine that runs the tests.
    private static let readable = #filePath

    @Test(arguments: [("GRANDSTAND_PROT", "GRANDSTAND_PORT"), ("GRANDSTAND_DATABASE_URL", "DATABASE_URL")])
    func `a misspelt setting is refused with the name that was meant`(misspelt: String, setting: String) {
        #expect(throws: ExitError(misspelt, "is not a setting; \(setting) is one")) {
            try Configuration(environment: [misspelt: "1"])
        }
    }

    @Test func `variables of other programs are left alone, and named`() throws {
        #expect(try Configuration(environment: ["GRANDSTAND_URL": "1", "HOME": "/"]).unknown == ["GRANDSTAND_URL"])
    }

    @Test func `unset settings, and empty ones, have Apple's hosts and an embedded database`() throws {
        #expect(
            try Configuration(environment: ["GRANDSTAND_DATA_DIR": "/data"]).database == .embedded(directory: "/data"))
        let names = ["DATABASE_URL", "GRANDSTAND_DATA_DIR", "GRANDSTAND_PORT", "GRANDSTAND_APNS_DEVELOPMENT_SEND_URL"]
        for environment in [[:], Dictionary(uniqueKeysWithValues: names.map { ($0, "") })] {
            let configuration = try Configuration(environment: environment)
            #expect(configuration.database == .embedded(directory: ".grandstand") && configuration.tls == nil)
            #expect(configuration.host == "127.0.0.1" && configuration.port == 8_080)
            #expect(configuration.trustRoots == .system)
            let endpoints = [configuration.endpoints.send, configuration.endpoints.manage]
            #expect(
                Set(endpoints.flatMap { hosts in APNsEnvironment.allCases.compactMap { hosts[$0]?.authority } }) == [
                    "api.sandbox.push.apple.com", "api.push.apple.com",
                    "api-manage-broadcast.sandbox.push.apple.com:2195", "api-manage-broadcast.push.apple.com:2196",
                ])
        }
    }

    private static let connection = "postgres://a:b@one,two/x?target_session_attrs=read-write"

    /// A setting of each kind, and those of which several make one value.
    static let settings: [(name: String, value: String, isRead: @Sendable (Configuration) -> Bool)] = [
        ("GRANDSTAND_HISTORY_DAYS", "1.5", { $0.historyMaxAge == 129_600 }),
        // The value is a connection string in libpq's format and stays unchanged. The folder of the embedded database
        // is not used.
        ("DATABASE_URL", connection, { $0.database == .url(connection) }),
        ("GRANDSTAND_DATA_DIR", "/elsewhere", { $0.database == .url(connection) }),
        ("GRANDSTAND_TLS_CERT", readable, { $0.tls?.certificatePath == readable }),
        ("GRANDSTAND_TLS_KEY", readable, { $0.tls?.keyPath == readable }),
        ("GRANDSTAND_APNS_DEVELOPMENT_SEND_URL", "https://a:1", { $0.endpoints.send[.development]?.port == 1 }),
        ("GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL", "https://b:2", { $0.endpoints.manage[.development]?.port == 2 }),
        ("GRANDSTAND_APNS_PRODUCTION_SEND_URL", "https://c:3", { $0.endpoints.send[.production]?.port == 3 }),
        ("GRANDSTAND_APNS_PRODUCTION_MANAGE_URL", "https://d:4", { $0.endpoints.manage[.production]?.port == 4 }),
        ("HTTPS_PROXY", "http://proxy:3128", { $0.isProxyIgnored }),
        ("GRANDSTAND_APNS_REQUEST_TIMEOUT", "0.5", { $0.apnsTimeout == .milliseconds(500) }),
        ("GRANDSTAND_EVENT_QUIET_HOURS", "0.5", { $0.tenure.quietAfter == 1_800 }),
        ("GRANDSTAND_ROLES", "dispatch, api", { $0.roles == [.dispatch, .api] }),
        ("GRANDSTAND_LOG_LEVEL", "DEBUG", { $0.logLevel == .debug }),
        ("GRANDSTAND_WEBHOOK_HTTP", "TRUE", { $0.webhookNetworks.allowsPlainHTTP }),
    ]

    @Test func `settings are read from their variables`() throws {
        let configuration = try Configuration(
            environment: Dictionary(uniqueKeysWithValues: Self.settings.map { ($0.name, $0.value) }))
        for setting in Self.settings { #expect(setting.isRead(configuration), "\(setting.name)") }
    }

    @Test(arguments: [
        ("GRANDSTAND_PORT", ["http", "-1", "65536", "80.5", " 80", "0x50", "99999999999999999999"]),
        ("GRANDSTAND_OPERATIONS_PORT", ["8080"]),
        ("GRANDSTAND_TLS_CERT", ["/nowhere/cert.pem"]),
        ("GRANDSTAND_APNS_DEVELOPMENT_SEND_URL", ["http://a", "a:443", "https://a/b", "https://a:0", "https://"]),
        ("GRANDSTAND_APNS_CONNECTIONS", ["0", "65", "two"]),
        ("GRANDSTAND_APNS_REQUEST_TIMEOUT", ["0", "301", "5s", "nan", "inf", "-1"]),
        ("GRANDSTAND_HISTORY_DAYS", ["0", "3651", "forever"]),
        ("GRANDSTAND_ROLES", ["all", "api,", "api;dispatch", ","]),
        ("GRANDSTAND_LOG_LEVEL", ["verbose", "5"]),
        ("GRANDSTAND_WEBHOOK_NETWORKS", ["10.0.0.0/33"]),
        ("GRANDSTAND_WEBHOOK_HTTP", ["maybe"]),
    ])
    func `an invalid value is refused in one line that names the variable`(_ variable: String, _ values: [String])
        throws
    {
        for value in values {
            let error = #expect(throws: ExitError.self, "\(variable)=\(value)") {
                try Configuration(environment: [variable: value])
            }
            let description = try #require(error?.description)
            #expect(description.hasPrefix("\(variable): ") && description.contains(value))
            #expect(!description.contains("\n"))
        }
    }

    @Test(arguments: ["postgres://[bad", "postgres://u:secret%zz@h/x", "mysql://h/x", "host=h bogus=secret"])
    func `an invalid connection string is refused without being quoted`(_ text: String) {
        let error = #expect(throws: ExitError.self) { try Configuration(environment: ["DATABASE_URL": text]) }
        #expect(error?.description.hasPrefix("DATABASE_URL: ") == true)
        #expect(error?.description.contains("\n") == false)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: [("GRANDSTAND_TLS_CERT", "GRANDSTAND_TLS_KEY"), ("GRANDSTAND_TLS_KEY", "GRANDSTAND_TLS_CERT")])
    func `a certificate without its key, or a key without its certificate, is refused with the missing name`(
        set: String, missing: String
    ) {
        #expect(throws: ExitError(missing, "must be set together with \(set)")) {
            try Configuration(environment: [set: Self.readable])
        }
    }
}
