internal import Cryptography
internal import Foundation
internal import GrandstandTestKit

/// A self-signed certificate, and the file that a client trusts.
struct TestIdentity {
    let receiver: Receiver.Identity
    let file: String

    /// - Parameter names: the DNS names in the certificate.
    init(_ names: [String]) throws {
        let key = try PrivateKey.p256()
        let pem = try Certificate(
            "webhook tests", key: key, from: .now - 3_600, until: .now + 86_400,
            extensions: [
                "basicConstraints": "critical,CA:TRUE",
                "subjectAltName": names.map { "DNS:\($0)" }.joined(separator: ","),
            ]
        ).pem
        let url = FileManager.default.temporaryDirectory.appending(path: "webhook-tests-\(UUID().uuidString).pem")
        try Data(pem.utf8).write(to: url)
        file = url.path
        receiver = (Array(pem.utf8), Array(try key.pem.utf8))
    }
}
