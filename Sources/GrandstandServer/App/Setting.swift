internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A setting that cannot be used, in one line that names it.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ variable: String, _ why: String) { description = "\(variable): \(why)" }
}

/// An environment variable, and how its text becomes a value of the configuration.
struct Setting: Sendable {
    let name: String
    let read: @Sendable (String, inout Configuration) throws(SettingFault) -> Void

    init<Value>(
        _ name: String, _ kind: SettingKind<Value>, _ set: @escaping @Sendable (inout Configuration, Value) -> Void
    ) {
        self.name = name
        read = { text, configuration throws(SettingFault) in set(&configuration, try kind.read(text)) }
    }
}

/// Why a text is not the value of a setting.
struct SettingFault: Error {
    let why: String
}

/// A kind of values, and how they are written.
struct SettingKind<Value>: Sendable {
    let read: @Sendable (String) throws(SettingFault) -> Value

    /// - Parameter rule: says of a text that is not a value why.
    private static func rule(
        _ rule: @escaping @Sendable (String) -> String, _ read: @escaping @Sendable (String) -> Value?
    ) -> SettingKind {
        SettingKind { text throws(SettingFault) in
            guard let value = read(text) else { throw SettingFault(why: rule(text)) }
            return value
        }
    }
}

extension SettingKind<String> {
    static var text: SettingKind { SettingKind { $0 } }

    static var readableFile: SettingKind {
        rule({ "the file \($0) cannot be read" }) { FileManager.default.isReadableFile(atPath: $0) ? $0 : nil }
    }

    /// A libpq connection string.
    static var connectionString: SettingKind {
        SettingKind { text throws(SettingFault) in
            guard let fault = ConnectionString.fault(in: text) else { return text }
            // The value is not quoted, because it may contain a password.
            throw SettingFault(
                why: "\(fault); it is a URL such as postgres://user:password@db.example.com:5432/grandstand, or pairs "
                    + "such as host=db.example.com dbname=grandstand")
        }
    }
}

extension SettingKind<Int> {
    /// - Parameter unit: what the number counts, for the error message.
    static func integer(_ range: ClosedRange<Int>, _ unit: String) -> SettingKind {
        rule({ "\($0) is not a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound)" }) {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A port number; 0: the system picks a free port.
    static var port: SettingKind {
        rule({ "\($0) is not a port from 0 to 65535" }) { Int($0).flatMap { (0...65_535).contains($0) ? $0 : nil } }
    }
}

extension SettingKind<Double> {
    /// Like `integer`, but the number may have a fraction.
    static func number(_ range: ClosedRange<Double>, _ unit: String) -> SettingKind {
        let bounds = [range.lowerBound, range.upperBound].map { Int(exactly: $0).map(String.init) ?? String($0) }
        return rule({ "\($0) is not a number of \(unit) from \(bounds[0]) to \(bounds[1])" }) {
            Double($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    static func seconds(_ range: ClosedRange<Double>) -> SettingKind { number(range, "seconds") }
}

extension SettingKind<Bool> {
    static var flag: SettingKind {
        rule({ "\($0.lowercased()) is neither true nor false" }) { ["true": true, "false": false][$0.lowercased()] }
    }
}

extension SettingKind<Endpoint> {
    static var endpoint: SettingKind {
        rule({ "\($0) is not a URL with only a host and a port, such as https://api.push.apple.com:443" }) {
            Endpoint(url: $0)
        }
    }
}

extension SettingKind<[IPNetwork]> {
    /// Address ranges separated by commas.
    static var networks: SettingKind {
        SettingKind { text throws(SettingFault) in
            var networks: [IPNetwork] = []
            for word in text.split(separator: ",") {
                let text = String(word.filter { $0 != " " })
                guard let network = IPNetwork(text) else {
                    throw SettingFault(why: "\(text) is not an address range such as 10.0.0.0/8 or fd00::/8")
                }
                networks.append(network)
            }
            return networks
        }
    }
}

extension SettingKind where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
    static func word() -> SettingKind {
        rule({ "\($0) is not one of \(Value.words)" }) { Value(rawValue: $0.lowercased()) }
    }
}

extension SettingKind {
    /// Words separated by commas. No word may occur twice.
    static func words<Word: RawRepresentable<String> & CaseIterable & Hashable & SendableMetatype>() -> SettingKind
    where Value == Set<Word> {
        rule({ "\($0) is not a list of words from \(Word.words), separated by commas" }) { text in
            let words = text.split(separator: ",", omittingEmptySubsequences: false)
            let values = Set(words.compactMap { Word(rawValue: String($0.trimmingPrefix { $0 == " " })) })
            return values.count == words.count ? values : nil
        }
    }
}

extension CaseIterable where Self: RawRepresentable<String> {
    fileprivate static var words: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension Configuration {
    /// Refuses a variable that is no setting but whose name is similar to a setting's. Other names are ignored, because
    /// they may belong to other programs.
    ///
    /// - Throws: `ConfigurationError` with the name of the similar setting.
    static func refuseMisspelt(_ variables: [String]) throws(ConfigurationError) {
        let prefix = "GRANDSTAND_"
        let known = settings.map(\.name).sorted()
        for variable in variables where variable.hasPrefix(prefix) && !known.contains(variable) {
            let name = variable.dropFirst(prefix.count)
            let nearest = known.map { ($0, distance(variable, $0)) }.min { $0.1 < $1.1 }
            if known.contains(String(name)) {
                throw ConfigurationError(variable, "is not a setting; \(name) is one")
            }
            if let (setting, edits) = nearest, edits <= max(2, name.count / 4) {
                throw ConfigurationError(variable, "is not a setting; \(setting) is one")
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
}
