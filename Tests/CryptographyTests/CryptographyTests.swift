internal import Cryptography
internal import Foundation
internal import Testing

struct CryptographyTests {
    private static func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    @Test func `SHA-256 gives FIPS 180's results`() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(Self.hex(SHA256.hash([])) == empty)
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(Self.hex(SHA256.hash(Array("abc".utf8))) == abc)
    }

    @Test func `HMAC gives RFC 4231's result, also with an empty key`() {
        let code = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        #expect(Self.hex(SHA256.hmac(Array("Hi There".utf8), key: [UInt8](repeating: 0x0b, count: 20))) == code)
        let empty = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
        #expect(Self.hex(SHA256.hmac([], key: [])) == empty)
    }

    @Test(arguments: [
        (
            "sample",
            "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
                + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
        ),
        (
            "test",
            "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
                + "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"
        ),
    ])
    func `a signature has RFC 6979's bytes`(_ message: String, _ signature: String) throws {
        // The key of A.2.5 as PKCS#8: an algorithm, a curve, and 32 bytes.
        let key = try PrivateKey.p256(
            pem: Array(
                """
                -----BEGIN PRIVATE KEY-----
                MEECAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJzAlAgEBBCDJr6nYRbp1FmtcIVdn
                sdaTTlDD2zbomxJ7imIrEg9nIQ==
                -----END PRIVATE KEY-----
                """.utf8))
        for _ in 0..<2 { #expect(Self.hex(try key.signature(of: Array(message.utf8))) == signature) }
    }

    @Test func `a signature is valid only for its message and key`() throws {
        let (key, other) = (try PrivateKey.p256(), try PrivateKey.p256())
        let message = Array("message".utf8)
        // Numbers with leading zeros are padded: one in 256 of R and S has them.
        for number in 0..<600 {
            let message = Array("\(number)".utf8)
            let signature = try key.signature(of: message)
            try #require(signature.count == 64)
            try #require(key.isSignature(signature, of: message))
        }
        let signature = try key.signature(of: message)
        #expect(!key.isSignature(signature, of: message + [0]))
        #expect(!other.isSignature(signature, of: message))
        #expect(!key.isSignature(Array(signature.dropLast()), of: message))
        #expect(!key.isSignature([UInt8](repeating: 0, count: 64), of: message))
        #expect(try PrivateKey.p256(pem: Array(key.pem.utf8)).isSignature(signature, of: message))
    }

    @Test func `a certificate is read back with its times and names`() throws {
        let (from, until) = (Date(timeIntervalSince1970: 1_700_000_000), Date(timeIntervalSince1970: 4_000_000_000))
        let key = try PrivateKey.p256()
        let made = try Certificate(
            "test", key: key, from: from, until: until,
            extensions: ["subjectAltName": "DNS:a.example,IP:127.0.0.1,IP:2001:db8::1,email:a@a.example"])
        let text = Array(try made.pem.utf8)
        let read = try Certificate.all(pem: Array("text before\n".utf8) + text + Array(try key.pem.utf8) + text)
        #expect(read.count == 2)
        #expect(read[0].notBefore == from && read[0].notAfter == until)
        #expect(read[0].names == ["a.example", "127.0.0.1", "2001:db8:0:0:0:0:0:1"])
        #expect(read[1].belongs(to: key))
        #expect(!read[1].belongs(to: try PrivateKey.p256()))
    }

    @Test func `a broken certificate is refused, also after a good one`() throws {
        let good = try Certificate("test", key: .p256(), from: .now, until: .now + 60).pem
        #expect(throws: CryptoError.self) { try Certificate.all(pem: []) }
        #expect(throws: CryptoError.self) { try Certificate.all(pem: Array("no PEM".utf8)) }
        let broken = good + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        #expect(throws: CryptoError.self) { try Certificate.all(pem: Array(broken.utf8)) }
        #expect(throws: CryptoError.self) { try Certificate.all(pem: Array((good + good.prefix(200)).utf8)) }
    }
}
