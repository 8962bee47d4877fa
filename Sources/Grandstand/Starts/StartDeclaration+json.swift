internal import JSON

// The alerts by language as the database keeps them.

extension StartDeclaration {
    /// JSON object text of the alerts by their tags, each alert as it was written; `nil` without any.
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
