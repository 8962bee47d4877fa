internal import FoundationEssentials
internal import Grandstand
internal import Postgres

/// An environment variable, and how its text becomes a value.
package struct Setting<Value: Sendable>: AnySetting {
    let name: String
    private let kind: SettingKind<Value>

    /// - Parameter standard: the text that counts if the variable is not set.
    init(_ name: String, _ kind: SettingKind<Value>, _ standard: String) {
        self.init(name, of: kind.with { kind.read($0.isEmpty ? standard : $0) })
    }

    /// A setting that is `nil` if the variable is not set.
    init<Present>(_ name: String, _ kind: SettingKind<Present>) where Value == Present? {
        self.init(name, of: kind.with { $0.isEmpty ? .some(nil) : kind.read($0).map(Optional.some) })
    }

    private init(_ name: String, of kind: SettingKind<Value>) {
        self.name = ["DATABASE_URL", "HTTPS_PROXY"].contains(name) ? name : "GRANDSTAND_" + name
        self.kind = kind
    }

    func value(_ text: String) throws(ExitError) -> any Sendable {
        if let value = kind.read(text) { return value }
        throw ExitError(name, "\(kind.isSecret ? "it" : text) is not \(kind.rule)")
    }
}

/// A setting with a value of any type.
protocol AnySetting: Sendable {
    var name: String { get }
    func value(_ text: String) throws(ExitError) -> any Sendable
}

/// A kind of values, and how they are written.
struct SettingKind<Value>: Sendable {
    /// What a text of this kind is.
    let rule: String
    /// Whether a text may contain a password, and so is not quoted.
    var isSecret = false
    let read: @Sendable (String) -> Value?

    init(_ rule: String, isSecret: Bool = false, _ read: @escaping @Sendable (String) -> Value?) {
        (self.rule, self.isSecret, self.read) = (rule, isSecret, read)
    }

    /// The same texts, read in another way.
    func with<Other>(_ read: @escaping @Sendable (String) -> Other?) -> SettingKind<Other> {
        SettingKind<Other>(rule, isSecret: isSecret, read)
    }
}

extension SettingKind<String> {
    static var text: SettingKind { SettingKind("a text") { $0 } }

    static var readableFile: SettingKind {
        SettingKind("a file that can be read") { FileManager.default.isReadableFile(atPath: $0) ? $0 : nil }
    }

    /// A libpq connection string.
    static var connectionString: SettingKind {
        SettingKind(
            "a URL such as postgres://user:password@db.example.com:5432/grandstand, or pairs of libpq such as "
                + "host=db.example.com dbname=grandstand", isSecret: true
        ) { ConnectionString.isReadable($0) ? $0 : nil }
    }
}

extension SettingKind {
    static func integer(_ range: ClosedRange<Int>) -> SettingKind where Value == Int {
        SettingKind("a whole number from \(range.lowerBound) to \(range.upperBound)") {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Like `integer`, but the number may have a fraction.
    ///
    /// - Parameter size: what a number of one means.
    static func number(_ range: ClosedRange<Double>, of size: Double = 1) -> SettingKind where Value == Double {
        SettingKind("a number from \(range.lowerBound) to \(range.upperBound)") {
            Double($0).flatMap { range.contains($0) ? $0 * size : nil }
        }
    }

    /// So many seconds.
    static func duration(_ range: ClosedRange<Double>) -> SettingKind where Value == Duration {
        let seconds = SettingKind<Double>.number(range)
        return seconds.with { seconds.read($0).map { .seconds($0) } }
    }

    /// Values separated by commas; an empty text: none.
    static func list<Element>(
        _ rule: String, _ read: @escaping @Sendable (String) -> Element?
    ) -> SettingKind where Value == [Element] {
        SettingKind("a list of \(rule)") { text in
            let words = text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false)
            let values = words.compactMap { read($0.filter { $0 != " " }) }
            return values.count == words.count ? values : nil
        }
    }

    static func choice(_: Value.Type) -> SettingKind
    where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
        SettingKind("one of \(Value.allCases.map(\.rawValue))") { Value(rawValue: $0.lowercased()) }
    }
}

extension SettingKind<Bool> {
    static var flag: SettingKind { SettingKind("true or false") { Bool($0.lowercased()) } }
}

extension SettingKind<Endpoint> {
    static var endpoint: SettingKind {
        SettingKind("a URL such as https://api.push.apple.com:443", Endpoint.init)
    }
}

extension SettingKind<[IPNetwork]> {
    static var networks: SettingKind { list("address ranges such as 10.0.0.0/8,fd00::/8", IPNetwork.init) }
}
