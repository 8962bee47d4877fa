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

    @Test func `HKDF gives RFC 5869's first 32 bytes`() {
        let secret = [UInt8](repeating: 0x0b, count: 22)
        let derived = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
        #expect(Self.hex(SHA256.hkdf(secret, info: "")) == derived)
    }

    @Test func `a box opens only with its key and context, and unchanged`() throws {
        let key = randomBytes(32)
        for plain in [[], [1], randomBytes(100_000)] {
            let box = try SealedBox.seal(plain, key: key, context: [1, 2])
            #expect(box.count == plain.count + 28)
            #expect(try SealedBox.open(box, key: key, context: [1, 2]) == plain)
            #expect(throws: CryptoError.self) { try SealedBox.open(box, key: randomBytes(32), context: [1, 2]) }
            #expect(throws: CryptoError.self) { try SealedBox.open(box, key: key, context: [1]) }
            for index in [0, 12, box.count - 1] {
                var changed = box
                changed[index] ^= 1
                #expect(throws: CryptoError.self) { try SealedBox.open(changed, key: key, context: [1, 2]) }
            }
        }
        #expect(throws: CryptoError.self) { try SealedBox.open([1, 2, 3], key: key, context: []) }
    }

    @Test func `a signature is valid only for its message and key`() throws {
        let (key, other) = (try PrivateKey.p256(), try PrivateKey.p256())
        let message = Array("message".utf8)
        // Numbers with leading zeros are padded: one in 256 of R and S has them.
        for _ in 0..<600 {
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
