package import APNsWire

/// A request as it reached the simulator: a value, so that what APNs would say to it can be decided without sockets.
package struct SimulatorRequest: Sendable, Hashable {
    /// One header field.
    package struct Header: Sendable, Hashable {
        /// Lowercase.
        package var name: String
        /// As on the wire.
        package var value: String

        /// - Parameter name: lowercase.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Which of Apple's two worlds the port stands for.
    package var environment: APNsEnvironment
    /// The services under the host name that the client used.
    package var service: HostService
    /// The HTTP/2 connection it came on; unique within the process.
    package var connection: Int
    /// Uppercase, as on the wire.
    package var method: String
    /// Path and query as on the wire.
    package var path: String
    /// Every regular field in the order it came, duplicates kept.
    package var headers: [Header]
    /// The body, or its beginning when `bodyIsCut`.
    package var body: [UInt8]
    /// The body was longer than the simulator keeps.
    package var bodyIsCut: Bool

    /// A request as it came; the parts that are left out were empty.
    package init(
        environment: APNsEnvironment, service: HostService = .all, connection: Int = 0, method: String, path: String,
        headers: [Header] = [],
        body: [UInt8] = [], bodyIsCut: Bool = false
    ) {
        self.environment = environment
        self.service = service
        self.connection = connection
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.bodyIsCut = bodyIsCut
    }

    /// The value of the first field of that (lowercase) name.
    package subscript(header name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}
