/// Why a server did not start: one line that says what to check.
package struct HTTP2ServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line, no line break.
    package var message: String

    /// - Parameter message: one line that says what to check.
    package init(_ message: String) { self.message = message }

    /// The message alone.
    package var description: String { message }
}
