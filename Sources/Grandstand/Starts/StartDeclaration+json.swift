internal import JSON

// The alerts by language as the database keeps them.

extension StartDeclaration {
    /// The alerts by language tag, as JSON object text. Each alert has the text that the organiser wrote. `nil`: there
    /// are no such alerts.
    package var alertsByLocaleText: [UInt8]? {
        guard !alertsByLocale.isEmpty else { return nil }
        return JSONWriter.text { object in
            for (tag, alert) in alertsByLocale.sorted(by: { $0.key < $1.key }) {
                object.name(dynamic: tag)
                object.raw(alert)
            }
        }
    }

    /// Parses an `alertsByLocaleText`.
    package static func alertsByLocale(_ text: [UInt8]) throws(Problem) -> [String: [UInt8]] {
        guard case .object(let members) = try JSONValue(parsing: text).kind else { return [:] }
        return Dictionary(members.map { ($0.name, $0.value.bytes) }) { first, _ in first }
    }
}
