/// Why a server did not start: one line that says what to check.
package struct HTTP2ServerError: Error, Sendable, Hashable, CustomStringConvertible {
    package var message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
