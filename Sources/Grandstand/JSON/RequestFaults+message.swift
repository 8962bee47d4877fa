package import GrandstandContract
package import JSON

// The rules that messages, starts and state rules share.

extension RequestFaults {
    /// Adds a fault if the alert has neither title nor body, because it would show nothing, or if its title is empty.
    ///
    /// - Parameter advice: an additional sentence for the error.
    package mutating func requireText(of alert: RawJSON, at pointer: String, _ advice: String) {
        let alert = try? alert.value.decode(Contract.Alert.self)
        if [alert?.title, alert?.body].allSatisfy({ $0?.isEmpty ?? true }) {
            add(pointer, "An alert needs a title or a body. \(advice)")
        } else if alert?.title?.isEmpty ?? false {
            add(pointer + "/title", "The title is empty. Give it a text, or leave it out.")
        }
    }

    /// Checks each alert with `requireText`. The keys are language tags. Each tag may occur once; upper and lower case
    /// are the same.
    package mutating func requireTexts(of alerts: [String: RawJSON], at pointer: String, _ advice: String) {
        var seen: Set<String> = []
        // Lower case comes first, so of two tags that differ in case only, the one with capitals is reported.
        for (tag, alert) in alerts.sorted(by: { $0.key > $1.key }) {
            let pointer = pointer + PointerText.pointer([tag])
            if !seen.insert(tag.lowercased()).inserted {
                add(pointer, "This tag is listed twice; upper and lower case are the same.")
            }
            requireText(of: alert, at: pointer, advice)
        }
    }
}

extension Contract.LocalizedText {
    fileprivate var isEmpty: Bool {
        switch self {
        case .text(let text): text.allSatisfy(\.isWhitespace)
        case .localized: false
        }
    }
}

extension RawJSON {
    /// Parses the bytes.
    ///
    /// - Throws: `malformed-json`.
    package func tree() throws(Problem) -> JSONValue { try JSONValue(parsing: Array(bytes)) }
}
