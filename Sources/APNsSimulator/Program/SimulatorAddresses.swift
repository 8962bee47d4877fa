package import APNsWire

/// The addresses of a running simulator.
package struct SimulatorAddresses: Sendable, Hashable, CustomStringConvertible {
    /// A host that clients on this machine can connect to.
    package let host: String
    /// The port of the development environment.
    package let developmentPort: Int
    /// The port of the production environment.
    package let productionPort: Int
    /// A PEM file with the authority that signed the server's certificate.
    package let caFile: String
    /// The file of the provider key that the simulator created.
    package let keyFile: String
    /// The base URL of the control API; `nil`: there is none.
    package var controlURL: String?

    /// The base URL in place of Apple's hosts of one environment, for management and broadcasts.
    package func url(_ environment: APNsEnvironment) -> String {
        Self.url("https", host, port(environment))
    }

    static func url(_ scheme: String, _ host: String, _ port: Int) -> String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// The port of one environment.
    package func port(_ environment: APNsEnvironment) -> Int {
        switch environment {
        case .development: developmentPort
        case .production: productionPort
        }
    }

    /// The line that the program prints: `listening`, then `name=value` pairs.
    package var description: String {
        "listening development=\(url(.development)) production=\(url(.production)) ca=\(caFile) key=\(keyFile)"
            + (controlURL.map { " control=\($0)" } ?? "")
    }

    /// Replaces an address that means "every interface", because a client cannot connect to it.
    static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
}
