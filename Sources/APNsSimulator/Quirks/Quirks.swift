/// The variants of APNs' behaviour, where APNs' documentation, observations and inference differ or say nothing. There
/// is one value for each quirk. The default is the observed behaviour. If no behaviour was observed, the default is the
/// stricter value.
package struct Quirks: Sendable, Hashable {
    /// How a quirk is answered. The value of both quirks.
    package enum Rule: String, Sendable, CaseIterable {
        case refused
        case accepted
    }

    /// How the management paths treat capitals in a bundle ID (docs/internals/apns.md section 7). `refused`: 403
    /// `TopicMismatch`, as seen live in 2024; broadcasts still accept capitals. `accepted`: as Apple's samples suggest.
    package var capitals = Rule.refused
    var unknownDevice = Rule.refused

    /// All defaults.
    package init() {}

    /// The description of one quirk, and its value, as the control API shows it.
    package struct Row: Sendable, Encodable {
        /// The name, as in `--quirk name=value`.
        package let name: String
        var value = Rule.refused.rawValue
        /// All values, the default first.
        package var values = Rule.allCases.map(\.rawValue)
        /// A summary in one line.
        package let summary: String
        /// The source. docs/internals/apns.md has the addresses of most sources.
        package let source: String
    }

    /// All quirks with their present values.
    package var table: [Row] {
        [
            Row(
                name: "capitals", value: capitals.rawValue,
                summary: "capitals in a bundle ID on management paths: 403 TopicMismatch, or accepted",
                source: "observed: Apple forums 766038 (2024); Apple's samples have capitals"),
            Row(
                name: "unknown-device", value: unknownDevice.rawValue,
                summary: "a push to an unknown device token: 400 BadDeviceToken, or accepted",
                source: "documented: refused; the value accepted is for load tests"),
        ]
    }

    /// - Throws: an error with a list of the names or values if the name or value is unknown.
    package mutating func set(_ name: String, to value: String) throws(SimulatorError) {
        let paths: [String: WritableKeyPath<Quirks, Rule>] = [
            "capitals": \.capitals, "unknown-device": \.unknownDevice,
        ]
        guard let path = paths[name] else {
            throw SimulatorError("There is no quirk \"\(name)\": choose one of capitals, unknown-device.")
        }
        guard let rule = Rule(rawValue: value) else {
            throw SimulatorError("Quirk \(name) cannot be \"\(value)\": choose refused or accepted.")
        }
        self[keyPath: path] = rule
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
