/// The names and addresses in the simulator's certificate.
enum ServerNames {
    /// This machine, a container named `simulator`, and Apple's hosts (docs/internals/apns.md 1.1, 2.1), for clients
    /// that resolve those names to the simulator.
    static let standard =
        ["DNS:localhost", "DNS:simulator", "IP:127.0.0.1", "IP:::1"]
        + ["api", "api-broadcast", "api-manage-broadcast"].flatMap {
            ["DNS:\($0).push.apple.com", "DNS:\($0).sandbox.push.apple.com"]
        }

    /// A valid certificate of another host, for a client that used the wrong port (docs/internals/apns.md 1.1).
    static let wrong = ["DNS:another-host.invalid"]
}
