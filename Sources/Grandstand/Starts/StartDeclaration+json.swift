internal import APNsWire
internal import GrandstandContract
package import JSON

extension StartDeclaration: JSONObjectWritable {
    /// As it was declared; members that were left out are `null`.
    package func write(members object: inout JSONWriter) {
        object.member("at", at)
        object.member("until", until)
        object.member("attributesType", attributesType)
        object.member("attributes", raw: attributes)
        object.member("contentState", raw: contentState)
        object.member("alert", raw: alert)
        object.member("alertsByLocale", raw: alertsByLocaleText)
        object.member("staleDate", staleDate)
        object.name("audiences")
        if let audiences {
            object.array(audiences) { writer, audience in Contract.AudienceSelector(audience).write(to: &writer) }
        } else {
            object.null()
        }
        object.member("restart", restarts)
    }

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
