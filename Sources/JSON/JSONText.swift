/// Small conversions between Swift strings and JSON text.
package enum JSONText {
    /// RFC 6901: `/` between the parts, `~` and `/` inside them escaped.
    package static func pointer(_ parts: some Sequence<String>) -> String {
        parts.map { part in
            let escaped = part.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
            return "/" + escaped
        }.joined()
    }

    /// `text` as a JSON string, quotes included.
    package static func quoted(_ text: String) -> String { text.quotedJSON }
}
