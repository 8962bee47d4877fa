/// Why a server did not start: one line that says what to do.
package struct StartError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
