internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// A setting that cannot be used, in one line that names it.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ variable: String, _ why: String) { description = "\(variable): \(why)" }
}

/// An environment variable, and how its text becomes a value.
package struct Setting<Value: Sendable>: AnySetting {
    let name: String
    private let kind: SettingKind<Value>

    /// - Parameter standard: the text that counts if the variable is not set.
    init(_ name: String, _ kind: SettingKind<Value>, _ standard: String) {
        self.init(name, of: SettingKind(kind.rule) { kind.read($0.isEmpty ? standard : $0) })
    }

    /// A setting that is `nil` if the variable is not set.
    init<Present>(_ name: String, _ kind: SettingKind<Present>) where Value == Present? {
        self.init(name, of: SettingKind(kind.rule) { $0.isEmpty ? .some(nil) : kind.read($0).map(Optional.some) })
    }

    private init(_ name: String, of kind: SettingKind<Value>) {
        self.name = ["DATABASE_URL", "HTTPS_PROXY"].contains(name) ? name : "GRANDSTAND_" + name
        self.kind = kind
    }

    func value(_ text: String) throws(ConfigurationError) -> any Sendable {
        guard let value = kind.read(text) else { throw ConfigurationError(name, kind.rule(text)) }
        return value
    }
}

/// A setting with a value of any type.
protocol AnySetting: Sendable {
    var name: String { get }
    func value(_ text: String) throws(ConfigurationError) -> any Sendable
}

/// A kind of values, and how they are written.
struct SettingKind<Value>: Sendable {
    /// Says of a text that is not a value why.
    let rule: @Sendable (String) -> String
    let read: @Sendable (String) -> Value?

    init(_ rule: @escaping @Sendable (String) -> String, _ read: @escaping @Sendable (String) -> Value?) {
        (self.rule, self.read) = (rule, read)
    }
}

extension SettingKind<String> {
    static var text: SettingKind { SettingKind({ $0 }) { $0 } }

    static var readableFile: SettingKind {
        SettingKind({ "the file \($0) cannot be read" }) { FileManager.default.isReadableFile(atPath: $0) ? $0 : nil }
    }

    /// A libpq connection string.
    static var connectionString: SettingKind {
        // The value is not quoted, because it may contain a password.
        SettingKind({
            "\(ConnectionString.fault(in: $0) ?? ""); it is a URL such as "
                + "postgres://user:password@db.example.com:5432/grandstand, or pairs such as host=db.example.com "
                + "dbname=grandstand"
        }) { ConnectionString.fault(in: $0) == nil ? $0 : nil }
    }
}

extension SettingKind<Int> {
    /// - Parameter unit: what the number counts, for the error message.
    static func integer(_ range: ClosedRange<Int>, _ unit: String) -> SettingKind {
        SettingKind({ "\($0) is not a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound)" }) {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A port number; 0: the system picks a free port.
    static var port: SettingKind {
        SettingKind({ "\($0) is not a port from 0 to 65535" }) { UInt16($0).map { Int($0) } }
    }
}

extension SettingKind<Double> {
    /// Like `integer`, but the number may have a fraction.
    ///
    /// - Parameter size: what a number of one means.
    static func number(_ range: ClosedRange<Double>, _ unit: String, of size: Double = 1) -> SettingKind {
        let bounds = [range.lowerBound, range.upperBound].map { Int(exactly: $0).map(String.init) ?? String($0) }
        return SettingKind({ "\($0) is not a number of \(unit) from \(bounds[0]) to \(bounds[1])" }) {
            Double($0).flatMap { range.contains($0) ? $0 * size : nil }
        }
    }

    static func seconds(_ range: ClosedRange<Double>) -> SettingKind { number(range, "seconds") }
    static func days(_ range: ClosedRange<Double>) -> SettingKind { number(range, "days", of: 86_400) }
}

extension SettingKind<Duration> {
    static func duration(_ range: ClosedRange<Double>) -> SettingKind {
        let seconds = SettingKind<Double>.seconds(range)
        return SettingKind(seconds.rule) { seconds.read($0).map { .seconds($0) } }
    }
}

extension SettingKind<Bool> {
    static var flag: SettingKind {
        SettingKind({ "\($0.lowercased()) is neither true nor false" }) {
            ["true": true, "false": false][$0.lowercased()]
        }
    }
}

extension SettingKind<Endpoint> {
    static var endpoint: SettingKind {
        SettingKind({ "\($0) is not a URL with only a host and a port, such as https://api.push.apple.com:443" }) {
            Endpoint(url: $0)
        }
    }
}

extension SettingKind<[IPNetwork]> {
    /// Address ranges separated by commas.
    static var networks: SettingKind {
        SettingKind({ "\($0) is not a list of address ranges such as 10.0.0.0/8,fd00::/8" }) { text in
            let words = text.filter { $0 != " " }.split(separator: ",")
            let networks = words.compactMap { IPNetwork(String($0)) }
            return networks.count == words.count ? networks : nil
        }
    }
}

extension SettingKind where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
    static func word(_: Value.Type) -> SettingKind {
        SettingKind({ "\($0) is not one of \(Value.words)" }) { Value(rawValue: $0.lowercased()) }
    }
}

extension SettingKind {
    /// Words separated by commas. No word may occur twice.
    static func words<Word: RawRepresentable<String> & CaseIterable & Hashable & SendableMetatype>(
        _: Word.Type
    ) -> SettingKind where Value == Set<Word> {
        SettingKind({ "\($0) is not a list of words from \(Word.words), separated by commas" }) { text in
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
        let known = Settings.list.map(\.name).sorted()
        for variable in variables where variable.hasPrefix(prefix) && !known.contains(variable) {
            let name = variable.dropFirst(prefix.count)
            if known.contains(String(name)) {
                throw ConfigurationError(variable, "is not a setting; \(name) is one")
            }
            // How many letters differ: a changed letter counts twice.
            let nearest = known.map { ($0, $0.difference(from: variable).count) }.min { $0.1 < $1.1 }
            if let (setting, edits) = nearest, edits <= max(3, name.count / 3) {
                throw ConfigurationError(variable, "is not a setting; \(setting) is one")
            }
        }
    }
}
