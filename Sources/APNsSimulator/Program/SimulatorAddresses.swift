package import APNsWire

/// Where a running simulator is found.
package struct SimulatorAddresses: Sendable, Hashable, CustomStringConvertible {
    /// A host a client on this machine can connect to.
    package let host: String
    /// Where the development environment is served.
    package let developmentPort: Int
    /// Where the production environment is served.
    package let productionPort: Int
    /// PEM of the authority that signed the server's certificate.
    package let caFile: String
    /// The provider key made by the simulator.
    package let keyFile: String
    /// Base URL of the control API, if there is one.
    package var controlURL: String?

    /// The base URL that stands for Apple's hosts of one environment; both management and broadcasts.
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

    /// The program's one line: `listening`, then `name=value` pairs.
    package var description: String {
        "listening development=\(url(.development)) production=\(url(.production)) ca=\(caFile) key=\(keyFile)"
            + (controlURL.map { " control=\($0)" } ?? "")
    }

    /// An address that means "every interface" is not one to connect to.
    static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
}
