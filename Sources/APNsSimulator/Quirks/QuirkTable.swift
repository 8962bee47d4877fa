/// The description of one quirk: its name, its values, and its source.
package struct Quirk: Sendable {
    /// The name, as in `--quirk name=value`.
    package let name: String
    /// A summary in one line.
    package let summary: String
    /// The source. docs/internals/apns.md has the addresses of most sources.
    package let source: String
    /// All values, the default first.
    package let values: [String]
    fileprivate let read: @Sendable (Quirks) -> String
    fileprivate let write: @Sendable (inout Quirks, String) -> Bool

    /// The default value.
    package var standard: String { values.first ?? "" }

    fileprivate init<Value: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Quirks, Value> & Sendable, _ summary: String, _ source: String
    ) where Value.RawValue == String {
        self.name = name
        self.summary = summary
        self.source = source
        let standard = Quirks()[keyPath: path].rawValue
        values = [standard] + Value.allCases.map(\.rawValue).filter { $0 != standard }
        read = { $0[keyPath: path].rawValue }
        write = { quirks, text in
            guard let value = Value(rawValue: text) else { return false }
            quirks[keyPath: path] = value
            return true
        }
    }
}

extension Quirks {
    /// All quirks.
    package static let table: [Quirk] = [
        Quirk(
            "capitals", \.capitals, "capitals in a bundle ID on management paths: 403 TopicMismatch, or accepted",
            "observed: Apple forums 766038 (2024); Apple's samples have capitals"),
        Quirk(
            "unknown-device", \.unknownDevice, "a push to an unknown device token: 400 BadDeviceToken, or accepted",
            "documented: refused; the value accepted is for load tests"),
    ]

    /// The value of a quirk by its name; `nil`: there is no such quirk.
    package subscript(name: String) -> String? {
        Self.table.first { $0.name == name }.map { $0.read(self) }
    }

    /// - Throws: an error with a list of the names or values if the name or value is unknown.
    package mutating func set(_ name: String, to value: String) throws(SimulatorError) {
        guard let quirk = Self.table.first(where: { $0.name == name }) else {
            let names = Self.table.map(\.name).joined(separator: ", ")
            throw SimulatorError("There is no quirk \"\(name)\": choose one of \(names).")
        }
        guard quirk.write(&self, value) else {
            throw SimulatorError(
                "Quirk \(name) cannot be \"\(value)\": choose \(quirk.values.joined(separator: " or ")).")
        }
    }

    /// Sets a list of `name=value`. If a name occurs twice, the last value counts.
    ///
    /// - Throws: an error that says what to write.
    package mutating func set(_ list: [String]) throws(SimulatorError) {
        for text in list {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw SimulatorError("\"\(text)\" is not of the form name=value.")
            }
            try set(parts[0], to: parts[1])
        }
    }
}
