/// An error of the simulator: one line that says what is wrong and what to do.
package struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence, without a line break.
    package let message: String

    /// - Parameter message: says what is wrong and what to do, in one line.
    package init(_ message: String) { self.message = message }

    /// The message alone; a command prints it after `Error:`.
    package var description: String { message }
}
