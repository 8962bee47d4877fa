/// Why a server did not start, in one line with advice.
package struct StartError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
