internal import Configuration
internal import FoundationEssentials
internal import Grandstand
internal import Postgres
internal import Synchronization

/// Environment variables, read by name through swift-configuration and checked.
struct Variables {
    private let reader: ConfigReader
    /// The names of the variables in the environment that begin with `GRANDSTAND_`.
    private let candidates: [String]
    private let settings = Settings()

    /// The names of all settings that were read.
    private final class Settings: Sendable {
        let names = Mutex<Set<String>>([])
    }

    private static let prefix = "GRANDSTAND_"

    init(_ environment: [String: String]) {
        candidates = environment.keys.filter { $0.hasPrefix(Self.prefix) }.sorted()
        reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment))
    }

    /// The variable's text. An empty variable counts as unset.
    subscript(variable: String) -> String? {
        settings.names.withLock { _ = $0.insert(variable) }
        let key = ConfigKey(variable.lowercased().split(separator: "_").map(String.init))
        return reader.string(forKey: key, isSecret: true).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Refuses a variable that no setting reads but whose name is similar to a setting's. Other names are ignored,
    /// because they may belong to other programs.
    ///
    /// - Throws: `ConfigurationError` with the name of the similar setting.
    func refuseMisspelt() throws(ConfigurationError) {
        let known = settings.names.withLock { $0 }
        for candidate in candidates where !known.contains(candidate) {
            let name = candidate.dropFirst(Self.prefix.count)
            if known.contains(String(name)) {
                throw ConfigurationError(candidate, "is not a setting; \(name) is one")
            }
            let nearest = known.sorted().map { ($0, Self.distance(candidate, $0)) }.min { $0.1 < $1.1 }
            if let (setting, edits) = nearest, edits <= max(2, name.count / 4) {
                throw ConfigurationError(candidate, "is not a setting; \(setting) is one")
            }
        }
    }

    /// The edit distance of two texts: the number of letters to insert, delete or change.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (number, byte) in left.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = number + 1
            for place in right.indices {
                let changed = diagonal + (byte == right[place] ? 0 : 1)
                diagonal = row[place + 1]
                row[place + 1] = min(changed, diagonal + 1, row[place] + 1)
            }
        }
        return row[right.count]
    }

    /// - Parameter unit: what the number counts, for the error message.
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

    /// Like `integer`, but the number may have a fraction.
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

    /// A port number; 0: the system picks a free port.
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
            throw ConfigurationError(variable, "\(text) is not one of \(words)")
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
                throw ConfigurationError(variable, "\(text) is not an address range such as 10.0.0.0/8 or fd00::/8")
            }
            networks.append(network)
        }
        return networks
    }

    /// Words separated by commas. No word may occur twice.
    func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable>(
        _ variable: String
    ) throws(ConfigurationError) -> Set<Choice>? {
        guard let text = self[variable] else { return nil }
        var choices: Set<Choice> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = word.trimmingPrefix { $0 == " " }
            guard let choice = Choice(rawValue: String(word)), choices.insert(choice).inserted else {
                let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationError(variable, "\(text) is not a list of words from \(words), separated by commas")
            }
        }
        return choices
    }

    /// A libpq connection string.
    func connectionString(_ variable: String) throws(ConfigurationError) -> String? {
        guard let text = self[variable] else { return nil }
        if let fault = ConnectionString.fault(in: text) {
            // The value is not quoted, because it may contain a password.
            throw ConfigurationError(
                variable,
                "\(fault); it is a URL such as postgres://user:password@db.example.com:5432/grandstand, or pairs such as "
                    + "host=db.example.com dbname=grandstand")
        }
        return text
    }

    func endpoint(_ variable: String, _ standard: String) throws(ConfigurationError) -> Endpoint {
        let text = self[variable] ?? standard
        guard let endpoint = Endpoint(url: text) else {
            throw ConfigurationError(
                variable, "\(text) is not a URL with only a host and a port, such as https://api.push.apple.com:443")
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

/// A setting that cannot be used, in one line that names it.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ variable: String, _ why: String) { description = "\(variable): \(why)" }
}
