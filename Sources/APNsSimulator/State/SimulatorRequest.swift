package import APNsWire

/// A request as received. It is a value, so that the answer can be computed without sockets.
package struct SimulatorRequest: Sendable, Hashable {
    /// One header field.
    package struct Header: Sendable, Hashable, Encodable {
        /// In lower case.
        package var name: String
        /// As received.
        package var value: String

        /// - Parameter name: in lower case.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The environment of the port.
    package var environment: APNsEnvironment
    /// The service of the host name that the client used.
    package var service = HostService.all
    /// The number of the HTTP/2 connection; unique within the process.
    package var connection = 0
    /// In upper case, as received.
    package var method: String
    /// Path and query as received.
    package var path: String
    /// All regular headers in the order received, including duplicates.
    package var headers: [Header] = []
    /// The body; only its beginning if `bodyIsCut`.
    package var body: [UInt8] = []
    /// Whether the body was longer than the simulator keeps.
    package var bodyIsCut = false

    /// The value of the first header with this name in lower case.
    package subscript(header name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}
