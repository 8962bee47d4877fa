/// The names and addresses in the simulator's certificate.
struct ServerNames {
    var dns: [String]
    /// IPv4 and IPv6 addresses as bytes.
    var addresses: [[UInt8]]

    /// This machine, a container named `simulator`, and Apple's hosts (docs/internals/apns.md 1.1, 2.1), for clients
    /// that resolve those names to the simulator.
    static let standard = ServerNames(
        dns: ["localhost", "simulator"] + apple,
        addresses: [[127, 0, 0, 1], [UInt8](repeating: 0, count: 15) + [1]])

    /// A valid certificate of another host, for a client that used the wrong port (docs/internals/apns.md 1.1).
    static let wrong = ServerNames(dns: ["another-host.invalid"], addresses: [])

    private static let apple = ["api", "api-broadcast", "api-manage-broadcast"].flatMap {
        ["\($0).push.apple.com", "\($0).sandbox.push.apple.com"]
    }
}
