internal import APNsClient
internal import APNsWire
internal import Foundation
internal import Grandstand
internal import Logging
internal import Testing

@testable internal import GrandstandApp

/// Every setting: its default, its value, and the error for an invalid value.
struct ConfigurationTests {
    /// A file that can be read on every machine that runs the tests.
    private static let readable = #filePath

    @Test(arguments: [
        ("GRANDSTAND_PROT", "GRANDSTAND_PORT"), ("GRANDSTAND_LOGLEVEL", "GRANDSTAND_LOG_LEVEL"),
        ("GRANDSTAND_APNS_CONNECTION", "GRANDSTAND_APNS_CONNECTIONS"), ("GRANDSTAND_DATABASE_URL", "DATABASE_URL"),
    ])
    func `a misspelt setting is refused with the most similar name`(misspelt: String, setting: String) {
        #expect(throws: ConfigurationError(misspelt, "is not a setting; \(setting) is one")) {
            try Configuration(environment: [misspelt: "1"])
        }
    }

    @Test func `variables of other programs are left alone`() throws {
        let others = [
            "GRANDSTAND_API_KEY", "GRANDSTAND_URL", "GRANDSTAND_TESTS", "GRANDSTAND_STRICT", "GRANDSTAND_WHOLE",
        ]
        _ = try Configuration(environment: Dictionary(uniqueKeysWithValues: others.map { ($0, "1") }))
    }

    @Test func `unset settings have the documented defaults`() throws {
        let configuration = try Configuration(environment: [:])
        #expect(configuration.database == .embedded(directory: ".grandstand"))
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.port == 8_080)
        #expect(configuration.tls == nil)
        #expect(configuration.keyDirectory == "keys")
        #expect("\(configuration.trustRoots)" == "system")
        #expect(configuration.connections == 2)
        #expect(configuration.requestTimeout == .seconds(5))
        #expect(configuration.laneInterval == 1)
        #expect(configuration.alertFreshness == 900)
        #expect(configuration.tenure == ChannelTenure(retireAfter: 14_400, quietAfter: 172_800))
        #expect(configuration.drain == .seconds(10))
        #expect(configuration.logLevel.rawValue == "info")
        #expect(configuration.logFormat == .text)
        let authorities = APNsEnvironment.allCases.flatMap { environment in
            [
                configuration.endpoints.send[environment]?.authority,
                configuration.endpoints.manage[environment]?.authority,
            ]
        }
        #expect(
            Set(authorities.compactMap { $0 }) == [
                "api.sandbox.push.apple.com", "api.push.apple.com",
                "api-manage-broadcast.sandbox.push.apple.com:2195", "api-manage-broadcast.push.apple.com:2196",
            ])
    }

    @Test func `settings are read from their variables`() throws {
        let configuration = try Configuration(environment: [
            "DATABASE_URL": "postgres://a:b@one,two/x?target_session_attrs=read-write",
            "GRANDSTAND_DATA_DIR": "/elsewhere",
            "GRANDSTAND_HOST": "0.0.0.0",
            "GRANDSTAND_PORT": "0",
            "GRANDSTAND_TLS_CERT": Self.readable,
            "GRANDSTAND_TLS_KEY": Self.readable,
            "GRANDSTAND_APNS_KEY_DIR": "/keys",
            "GRANDSTAND_APNS_DEVELOPMENT_SEND_URL": "https://a:1",
            "GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL": "https://b:2",
            "GRANDSTAND_APNS_PRODUCTION_SEND_URL": "https://c:3",
            "GRANDSTAND_APNS_PRODUCTION_MANAGE_URL": "https://d:4",
            "GRANDSTAND_APNS_CA_FILE": Self.readable,
            "GRANDSTAND_APNS_CONNECTIONS": "5",
            "GRANDSTAND_APNS_REQUEST_TIMEOUT": "0.5",
            "GRANDSTAND_LANE_INTERVAL": "0.25",
            "GRANDSTAND_ALERT_FRESH": "120",
            "GRANDSTAND_RETIRE_AFTER": "60",
            "GRANDSTAND_EVENT_QUIET_HOURS": "0.5",
            "GRANDSTAND_DRAIN_SECONDS": "0",
            "GRANDSTAND_ROLES": "dispatch, api",
            "GRANDSTAND_HISTORY_DAYS": "1.5",
            "GRANDSTAND_LOG_LEVEL": "DEBUG",
            "GRANDSTAND_LOG_FORMAT": "json",
        ])
        // The value is a connection string in libpq's format and stays unchanged. The folder of the embedded database
        // is not used.
        #expect(configuration.database == .url("postgres://a:b@one,two/x?target_session_attrs=read-write"))
        #expect(configuration.host == "0.0.0.0")
        #expect(configuration.port == 0)
        #expect(configuration.tls == .init(certificatePath: Self.readable, keyPath: Self.readable))
        #expect(configuration.keyDirectory == "/keys")
        #expect(configuration.endpoints.send[.development]?.authority == "a:1")
        #expect(configuration.endpoints.manage[.development]?.authority == "b:2")
        #expect(configuration.endpoints.send[.production]?.authority == "c:3")
        #expect(configuration.endpoints.manage[.production]?.authority == "d:4")
        #expect("\(configuration.trustRoots)" == "file(\"\(Self.readable)\")")
        #expect(configuration.connections == 5)
        #expect(configuration.requestTimeout == .milliseconds(500))
        #expect(configuration.laneInterval == 0.25)
        #expect(configuration.alertFreshness == 120)
        #expect(configuration.tenure == ChannelTenure(retireAfter: 60, quietAfter: 1_800))
        #expect(configuration.drain == .zero)
        #expect(configuration.roles == [.api, .dispatch])
        #expect(configuration.history == 129_600)
        #expect(configuration.logLevel.rawValue == "debug")
        #expect(configuration.logFormat == .json)
    }

    @Test func `the embedded database's folder can be chosen`() throws {
        let configuration = try Configuration(environment: ["GRANDSTAND_DATA_DIR": "/data"])
        #expect(configuration.database == .embedded(directory: "/data"))
    }

    @Test func `a process that only answers lookups needs a database that other processes write`() throws {
        let reader = ["GRANDSTAND_ROLES": "lookup", "DATABASE_URL": "host=standby"]
        #expect(try Configuration(environment: reader).onlyReads)
        #expect(throws: ConfigurationError.self) { try Configuration(environment: ["GRANDSTAND_ROLES": "lookup"]) }
        #expect(try !Configuration(environment: ["GRANDSTAND_ROLES": "lookup, dispatch"]).onlyReads)
        #expect(try Configuration(environment: [:]).roles == [.api, .dispatch, .reconcile])
    }

    @Test func `an empty setting counts as unset`() throws {
        let names = [
            "DATABASE_URL", "GRANDSTAND_DATA_DIR", "GRANDSTAND_HOST", "GRANDSTAND_PORT", "GRANDSTAND_TLS_CERT",
            "GRANDSTAND_APNS_DEVELOPMENT_SEND_URL", "GRANDSTAND_APNS_CA_FILE", "GRANDSTAND_APNS_CONNECTIONS",
            "GRANDSTAND_LANE_INTERVAL", "GRANDSTAND_LOG_LEVEL",
        ]
        let configuration = try Configuration(environment: Dictionary(uniqueKeysWithValues: names.map { ($0, "") }))
        #expect(configuration.database == .embedded(directory: ".grandstand"))
        #expect(configuration.port == 8_080)
        #expect(configuration.tls == nil)
    }

    @Test(arguments: [
        ("GRANDSTAND_PORT", ["http", "-1", "65536", "80.5", " 80", "0x50", "99999999999999999999"]),
        ("GRANDSTAND_OPERATIONS_PORT", ["8080", "metrics"]),
        ("GRANDSTAND_TLS_CERT", ["/nowhere/cert.pem"]),
        ("GRANDSTAND_TLS_KEY", ["/nowhere/key.pem"]),
        ("GRANDSTAND_APNS_DEVELOPMENT_SEND_URL", ["http://a", "a:443", "https://a/b", "https://a:0", "https://"]),
        ("GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL", ["2195"]),
        ("GRANDSTAND_APNS_PRODUCTION_SEND_URL", ["https://a:port"]),
        ("GRANDSTAND_APNS_PRODUCTION_MANAGE_URL", ["ftp://a"]),
        ("GRANDSTAND_APNS_CA_FILE", ["/nowhere/ca.pem"]),
        ("GRANDSTAND_APNS_CONNECTIONS", ["0", "65", "two"]),
        ("GRANDSTAND_APNS_REQUEST_TIMEOUT", ["0", "301", "5s", "nan", "inf", "-1"]),
        ("GRANDSTAND_LANE_INTERVAL", ["-0.1", "3601", "one", "nan"]),
        ("GRANDSTAND_ALERT_FRESH", ["0", "-1", "28801", "15m", "nan"]),
        ("GRANDSTAND_RETIRE_AFTER", ["-1", "4h", "2592001"]),
        ("GRANDSTAND_EVENT_QUIET_HOURS", ["0", "2d", "8761", "nan"]),
        ("GRANDSTAND_DRAIN_SECONDS", ["-1", "3601", "soon"]),
        ("GRANDSTAND_HISTORY_DAYS", ["0", "3651", "forever"]),
        ("GRANDSTAND_STREAMS_PER_KEY", ["0", "many"]),
        ("GRANDSTAND_ROLES", ["all", "api,", "api,api", "api;dispatch", ","]),
        ("GRANDSTAND_LOG_LEVEL", ["verbose", "5"]),
        ("GRANDSTAND_LOG_FORMAT", ["xml"]),
    ])
    func `an invalid value is refused in one line that names the variable`(_ variable: String, _ values: [String]) {
        for value in values {
            let error = #expect(throws: ConfigurationError.self, "\(variable)=\(value)") {
                try Configuration(environment: [variable: value])
            }
            #expect(error?.description.hasPrefix("\(variable): ") == true)
            #expect(error?.description.contains("\n") == false)
            #expect(error?.description.contains(value) == true)
        }
    }

    @Test(arguments: ["postgres://[bad", "postgres://u:secret%zz@h/x", "mysql://h/x", "host=h sslmode=bogus"])
    func `an invalid connection string is refused without being quoted`(_ text: String) {
        let error = #expect(throws: ConfigurationError.self) { try Configuration(environment: ["DATABASE_URL": text]) }
        #expect(error?.description.hasPrefix("DATABASE_URL: ") == true)
        #expect(error?.description.contains("\n") == false)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(arguments: [
        ("GRANDSTAND_HISTORY_DAYS", "is not a number of days from 1 to 3650"),
        ("GRANDSTAND_LANE_INTERVAL", "is not a number of seconds from 0 to 3600"),
        ("GRANDSTAND_CLIENT_TIMEOUT", "is not a number of seconds from 0.1 to 3600"),
        ("GRANDSTAND_RATE_LIMIT", "is not a number of requests a second from 0 to 1000000"),
        ("GRANDSTAND_LOOKUP_RATE_LIMIT", "is not a number of lookups a second from 0 to 1000000"),
        ("GRANDSTAND_DATABASE_CONNECTIONS", "is not a whole number of connections from 20 to 1000"),
        ("GRANDSTAND_DATABASE_WAIT", "is not a number of seconds from 0.5 to 60"),
        ("GRANDSTAND_AUTH_FAILURE_LIMIT", "is not a number of requests a minute from 0 to 1000000"),
        ("GRANDSTAND_MAX_CONNECTIONS", "is not a whole number of connections from 2 to 1000000"),
        ("GRANDSTAND_RECONCILE_DELETE_BUDGET", "is not a whole number of deletions from 0 to 10000"),
        ("GRANDSTAND_PORT", "is not a port from 0 to 65535"),
    ])
    func `the error of a setting names its unit`(_ variable: String, _ refusal: String) {
        let error = #expect(throws: ConfigurationError.self) { try Configuration(environment: [variable: "-1"]) }
        #expect(error?.description == "\(variable): -1 \(refusal)")
    }

    @Test func `one key may open half of the streams, or the configured number`() throws {
        #expect(try Configuration(environment: [:]).streamsPerKey == 500)
        #expect(try Configuration(environment: ["GRANDSTAND_STREAMS": "1"]).streamsPerKey == 1)
        #expect(try Configuration(environment: ["GRANDSTAND_STREAMS_PER_KEY": "3"]).streamsPerKey == 3)
    }

    @Test func `a certificate without its key, or a key without its certificate, is refused with the missing name`() {
        let withoutKey = #expect(throws: ConfigurationError.self) {
            try Configuration(environment: ["GRANDSTAND_TLS_CERT": Self.readable])
        }
        #expect(withoutKey?.description.hasPrefix("GRANDSTAND_TLS_KEY: ") == true)
        let withoutCertificate = #expect(throws: ConfigurationError.self) {
            try Configuration(environment: ["GRANDSTAND_TLS_KEY": Self.readable])
        }
        #expect(withoutCertificate?.description.hasPrefix("GRANDSTAND_TLS_CERT: ") == true)
    }
}
