package import APNsWire
package import FoundationEssentials

/// The options of a simulator.
package struct SimulatorOptions: Sendable {
    /// The address or name to listen on.
    package var host = "127.0.0.1"
    /// The port of the development environment; the production environment has the next port. 0: two free ports.
    package var port = 0
    /// The folder of the certificate authority and the provider keys. It is created if it does not exist.
    package var directory: String
    /// The variants of APNs' behaviour.
    package var quirks = Quirks()
    /// The most channels of one app in one environment.
    package var channelLimit = APNsLimits.channels
    /// The teams of the keys in `directory`, by key ID, because a `.p8` file does not contain its team. `""`: the team of
    /// all other keys; without it that is the simulator's own.
    package var keyTeams: [String: String] = [:]
    /// The scopes of the keys in `directory`, by key ID. A key without an entry is not restricted.
    package var keyScopes: [String: KeyScope] = [:]
    /// A file with faults that apply from the start.
    package var faultFile: String?
    /// The port of the control API; 0: a free port; `nil`: there is no control API.
    package var controlPort: Int?
    /// The address of the control API. It needs no password, so do not open it to other machines.
    package var controlHost = "127.0.0.1"
    /// The most requests in the journal.
    package var journalCapacity = 5_000
    /// The seed of message IDs and of the random part of channel IDs. With the same seed and requests, a run gives the
    /// same IDs.
    package var seed = UInt64.random(in: .min ... .max)
    /// The simulator's clock, for tokens, expirations and the journal.
    package var now: @Sendable () -> Date = { Date() }

    /// The defaults: free ports on this machine, and Apple's limits.
    package init(directory: String) { self.directory = directory }

    /// Sets teams: a list of `KEYID=TEAM`; a bare `TEAM` is for all other keys. If an entry occurs twice, the last one
    /// counts.
    ///
    /// - Throws: if a key ID or team is empty.
    package mutating func setTeams(_ list: [String]) throws(SimulatorError) {
        for text in list {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.allSatisfy({ !$0.isEmpty }) else {
                throw SimulatorError("\"\(text)\" is not a team: write KEYID=TEAM, or TEAM alone for all other keys.")
            }
            keyTeams[parts.count == 2 ? parts[0] : ""] = parts.last
        }
    }

    /// - Throws: if a number is out of range.
    func validate() throws(SimulatorError) {
        guard (0...65_534).contains(port) else {
            throw SimulatorError(
                "Port \(port) cannot be used: choose one from 1 to 65534 (production takes the next), or 0.")
        }
        if let controlPort, !(0...65_535).contains(controlPort) {
            throw SimulatorError("Control port \(controlPort) cannot be used: choose one from 1 to 65535, or 0.")
        }
        guard channelLimit >= 0 else {
            throw SimulatorError("The channel limit \(channelLimit) is negative: choose 0 or more.")
        }
    }
}

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
    package let p8File: String
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
        "listening development=\(url(.development)) production=\(url(.production)) ca=\(caFile) key=\(p8File)"
            + (controlURL.map { " control=\($0)" } ?? "")
    }

    /// Replaces an address that means "every interface", because a client cannot connect to it.
    static func reachableHost(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
}

/// The provider that the simulator creates for itself.
package enum SimulatorIdentity {
    /// The ID of the simulator's own key: the `kid` of its tokens.
    package static let keyID = "SIMULATOR1"
    /// The simulator's own team: the `iss` of its tokens.
    package static let teamID = "SIMULATOR1"
}
