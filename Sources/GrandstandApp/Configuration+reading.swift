internal import APNsClient
internal import APNsWire
internal import Configuration
internal import FoundationEssentials
internal import Grandstand
internal import HTTP2
internal import Logging

extension Configuration {
    /// Reads the settings of docs/settings.md from environment variables.
    ///
    /// - Throws: `ConfigurationError`, naming the variable; nothing was opened then.
    package init(environment: [String: String]) throws(ConfigurationError) {
        try self.init(Settings(environment))
    }

    private init(_ settings: Settings) throws(ConfigurationError) {
        database =
            settings["DATABASE_URL"].map(DatabaseSource.url)
            ?? .embedded(directory: settings["GRANDSTAND_DATA_DIR"] ?? ".grandstand")
        host = settings["GRANDSTAND_HOST"] ?? "127.0.0.1"
        port = try settings.port("GRANDSTAND_PORT") ?? 8080
        tls = try Self.tls(settings)
        operationsPort = try settings.port("GRANDSTAND_OPERATIONS_PORT")
        rateLimit = try settings.number("GRANDSTAND_RATE_LIMIT", in: 0...1_000_000, of: "requests a second") ?? 10_000
        lookupRateLimit =
            try settings.number("GRANDSTAND_LOOKUP_RATE_LIMIT", in: 0...1_000_000, of: "lookups a second") ?? 0
        failureLimit =
            try settings.number("GRANDSTAND_AUTH_FAILURE_LIMIT", in: 0...1_000_000, of: "requests a minute") ?? 600
        maximumConnections =
            try settings.integer("GRANDSTAND_MAX_CONNECTIONS", in: 2...1_000_000, of: "connections") ?? 10_000
        clientTimeout = .seconds(try settings.seconds("GRANDSTAND_CLIENT_TIMEOUT", in: 0.1...3_600) ?? 10)
        keyDirectory = settings["GRANDSTAND_APNS_KEY_DIR"] ?? "keys"
        endpoints = Endpoints(
            send: [
                .development: try settings.endpoint(
                    "GRANDSTAND_APNS_DEVELOPMENT_SEND_URL", APNsEnvironment.development.sendURL),
                .production: try settings.endpoint(
                    "GRANDSTAND_APNS_PRODUCTION_SEND_URL", APNsEnvironment.production.sendURL),
            ],
            manage: [
                .development: try settings.endpoint(
                    "GRANDSTAND_APNS_DEVELOPMENT_MANAGE_URL", APNsEnvironment.development.manageURL),
                .production: try settings.endpoint(
                    "GRANDSTAND_APNS_PRODUCTION_MANAGE_URL", APNsEnvironment.production.manageURL),
            ])
        trustRoots = try settings.readableFile("GRANDSTAND_APNS_CA_FILE").map { .file($0) } ?? .system
        proxies = try settings.proxies()
        connections = try settings.integer("GRANDSTAND_APNS_CONNECTIONS", in: 1...64, of: "connections") ?? 2
        requestTimeout = .seconds(try settings.seconds("GRANDSTAND_APNS_REQUEST_TIMEOUT", in: 0.1...300) ?? 5)
        laneInterval = try settings.seconds("GRANDSTAND_LANE_INTERVAL", in: 0...3_600) ?? 1
        alertFreshness = try settings.seconds("GRANDSTAND_ALERT_FRESH", in: 1...28_800) ?? DeliveryPlan.alertFreshness
        tenure = ChannelTenure(
            retireAfter: try settings.seconds("GRANDSTAND_RETIRE_AFTER", in: 0...2_592_000) ?? 14_400,
            quietAfter: 3_600
                * (try settings.number("GRANDSTAND_EVENT_QUIET_HOURS", in: 0.01...8_760, of: "hours") ?? 48))
        reconcileInterval = try settings.seconds("GRANDSTAND_RECONCILE_INTERVAL", in: 0...2_592_000) ?? 3_600
        reconcileGrace = try settings.seconds("GRANDSTAND_RECONCILE_GRACE", in: 0...2_592_000) ?? 600
        reconcileDeleteBudget =
            try settings.integer("GRANDSTAND_RECONCILE_DELETE_BUDGET", in: 0...10_000, of: "deletions") ?? 100
        history = 86_400 * (try settings.number("GRANDSTAND_HISTORY_DAYS", in: 1...3_650, of: "days") ?? 30)
        lookupStaleness = try settings.seconds("GRANDSTAND_LOOKUP_STALE_SECONDS", in: 0...86_400) ?? 600
        roles = try settings.choices("GRANDSTAND_ROLES") ?? Set(Role.allCases)
        webhookNetworks = NetworkGuard(
            allowed: try settings.networks("GRANDSTAND_WEBHOOK_NETWORKS"),
            allowsPlainHTTP: try settings.flag("GRANDSTAND_WEBHOOK_HTTP") ?? false)
        webhookTimeout = .seconds(try settings.seconds("GRANDSTAND_WEBHOOK_TIMEOUT", in: 0.1...120) ?? 15)
        webhookTrustedFile = try settings.readableFile("GRANDSTAND_WEBHOOK_CA_FILE")
        streams = try settings.integer("GRANDSTAND_STREAMS", in: 0...100_000, of: "streams") ?? 1_000
        streamsPerKey =
            try settings.integer("GRANDSTAND_STREAMS_PER_KEY", in: 1...100_000, of: "streams") ?? max(1, streams / 2)
        drain = .seconds(try settings.seconds("GRANDSTAND_DRAIN_SECONDS", in: 0...3_600) ?? 10)
        logLevel = try settings.choice("GRANDSTAND_LOG_LEVEL") ?? .info
        logFormat = try settings.choice("GRANDSTAND_LOG_FORMAT") ?? .text
    }

    private static func tls(_ settings: Settings) throws(ConfigurationError) -> TLS? {
        let certificate = try settings.readableFile("GRANDSTAND_TLS_CERT")
        let key = try settings.readableFile("GRANDSTAND_TLS_KEY")
        switch (certificate, key) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return TLS(certificatePath: certificate, keyPath: key)
        case (nil, _?): throw ConfigurationError("GRANDSTAND_TLS_CERT", "is needed beside GRANDSTAND_TLS_KEY")
        case (_?, nil): throw ConfigurationError("GRANDSTAND_TLS_KEY", "is needed beside GRANDSTAND_TLS_CERT")
        }
    }
}

/// Variables read by name, through swift-configuration, each checked.
private struct Settings {
    private let reader: ConfigReader

    init(_ environment: [String: String]) {
        reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment))
    }

    /// The variable's text; one that is set to nothing counts as unset.
    subscript(variable: String) -> String? {
        let key = ConfigKey(variable.lowercased().split(separator: "_").map(String.init))
        return reader.string(forKey: key, isSecret: true).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Parameter unit: what is counted, for the refusal; every setting names its own.
    func integer(
        _ variable: String, in range: ClosedRange<Int>, of unit: String
    ) throws(ConfigurationError) -> Int? {
        guard let text = self[variable] else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw ConfigurationError(
                variable, "\(text) is not a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// The same, fractions allowed.
    func number(
        _ variable: String, in range: ClosedRange<Double>, of unit: String
    ) throws(ConfigurationError) -> Double? {
        guard let text = self[variable] else { return nil }
        guard let value = Double(text), range.contains(value) else {
            let bounds = [range.lowerBound, range.upperBound].map { Int(exactly: $0).map(String.init) ?? String($0) }
            throw ConfigurationError(variable, "\(text) is not a number of \(unit) from \(bounds[0]) to \(bounds[1])")
        }
        return value
    }

    func seconds(_ variable: String, in range: ClosedRange<Double>) throws(ConfigurationError) -> Double? {
        try number(variable, in: range, of: "seconds")
    }

    /// 0: a free one.
    func port(_ variable: String) throws(ConfigurationError) -> Int? {
        guard let text = self[variable] else { return nil }
        guard let value = Int(text), (0...65_535).contains(value) else {
            throw ConfigurationError(variable, "\(text) is not a port from 0 to 65535")
        }
        return value
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ variable: String
    ) throws(ConfigurationError) -> Choice? {
        guard let text = self[variable] else { return nil }
        guard let choice = Choice(rawValue: text.lowercased()) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError(variable, "\(text) is none of \(words)")
        }
        return choice
    }

    func flag(_ variable: String) throws(ConfigurationError) -> Bool? {
        switch self[variable]?.lowercased() {
        case nil: return nil
        case "true": return true
        case "false": return false
        case let text?: throw ConfigurationError(variable, "\(text) is neither true nor false")
        }
    }

    /// Address ranges separated by commas.
    func networks(_ variable: String) throws(ConfigurationError) -> [IPNetwork] {
        var networks: [IPNetwork] = []
        for word in (self[variable] ?? "").split(separator: ",") {
            let text = String(word.filter { $0 != " " })
            guard let network = IPNetwork(text) else {
                throw ConfigurationError(variable, "\(text) is no address range such as 10.0.0.0/8 or fd00::/8")
            }
            networks.append(network)
        }
        return networks
    }

    /// Words separated by commas, each at most once.
    func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable>(
        _ variable: String
    ) throws(ConfigurationError) -> Set<Choice>? {
        guard let text = self[variable] else { return nil }
        var choices: Set<Choice> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = word.trimmingPrefix { $0 == " " }
            guard let choice = Choice(rawValue: String(word)), choices.insert(choice).inserted else {
                let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationError(variable, "\(text) is no list of some of \(words), separated by commas")
            }
        }
        return choices
    }

    /// `HTTPS_PROXY` and `NO_PROXY`, as other programs read them.
    func proxies() throws(ConfigurationError) -> ProxySettings {
        guard let url = self["HTTPS_PROXY"] else { return ProxySettings() }
        guard let proxies = ProxySettings(url: url, exceptions: self["NO_PROXY"] ?? "") else {
            // Not quoted: it may hold a password.
            throw ConfigurationError("HTTPS_PROXY", "is not an HTTP proxy's URL such as http://proxy.example.com:3128")
        }
        return proxies
    }

    func endpoint(_ variable: String, _ standard: String) throws(ConfigurationError) -> Endpoint {
        let text = self[variable] ?? standard
        guard let endpoint = Endpoint(url: text) else {
            throw ConfigurationError(
                variable, "\(text) is not a base URL such as https://api.push.apple.com:443, host and port together")
        }
        return endpoint
    }

    func readableFile(_ variable: String) throws(ConfigurationError) -> String? {
        guard let path = self[variable] else { return nil }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ConfigurationError(variable, "the file \(path) cannot be read")
        }
        return path
    }
}
