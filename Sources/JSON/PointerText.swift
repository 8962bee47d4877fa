/// JSON Pointers.
package enum PointerText {
    /// A JSON Pointer (RFC 6901): the parts, each after a `/`, with `~` and `/` escaped.
    package static func pointer(_ parts: some Sequence<String>) -> String {
        parts.map { part in
            let escaped = part.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
            return "/" + escaped
        }.joined()
    }
}
