internal import Cryptography
internal import Foundation
internal import Grandstand
internal import Testing

@testable internal import GrandstandServer

struct KeyRingTests {
    private static let keyID = KeyFolder.credentials.keyID

    private static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDsHn+OXSPORIcxD4/G
        DLDmvMfvzhaw7IEzOPDPS6vf6ul+UnP4VahmpRrN8ikhwOihZANiAAR8/3+JZCws
        SvdGBdgwW5To6VWqH7tfefe2FMCFw2sdwd8uNPzGkkCD4d2bG9qtODKY9S3Htbzf
        MbYatNtA+NO5/72ykQ44dX3BFZDA3Sh4Ax2B5+FR39/sMAlry0EQH3Y=
        -----END PRIVATE KEY-----
        """

    private static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAElruGm0PdWp0S3bJozEMn6RtxWtn7
        BIargpugqO4s1Ii5gW+x6cRxQBEViX6/XDVSxuzoAMcc0D6+VNL5ZdPDhQ==
        -----END PUBLIC KEY-----
        """

    @Test(arguments: [
        ("", "it is empty"), ("not a key", "no block PRIVATE KEY"), (KeyRingTests.publicKey, "a block PUBLIC KEY"),
        (KeyRingTests.p384, "another kind"), ("-----BEGIN PRIVATE KEY-----\nMIGH", "does not end"),
        ("LS0tLS1CRUdJTiBQUklWQVRF", "decode it once"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "base64 is broken"),
    ])
    func `a file without a P-256 key is unreadable, and the error tells its shape without quoting the file`(
        content: String, shape: String
    ) throws {
        let folder = try KeyFolder()
        try folder.write(content)
        let ring = KeyRing(directory: folder.path)
        #expect(ring.fileState(of: Self.keyID) == .unreadable)
        let fault = try #require(ring.fault(of: Self.keyID))
        #expect(fault.contains(folder.file()))
        #expect(fault.contains("P-256") && fault.contains(shape))
        #expect(!fault.contains("\n"))
        for line in content.split(separator: "\n") { #expect(!fault.contains(line)) }
    }

    @Test func `a key is read however its text is wrapped, indented or escaped`() throws {
        let folder = try KeyFolder()
        let key = try PrivateKey.p256()
        let lines = try key.pem.split(separator: "\n").map(String.init)
        let base64 = lines.dropFirst().dropLast().joined()
        let wrapped = [base64.prefix(76), base64.dropFirst(76)].joined(separator: "\n")
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        let quoted: String = "\"" + lines.joined(separator: #"\r\n"#) + "\""
        let indented: String = lines.map { "    \($0)" }.joined(separator: "\n")
        let plain: String = lines.joined(separator: "\n")
        let forms: [String] = [
            lines.joined(separator: " "), lines.joined(), lines.joined(separator: #"\n"#), quoted,
            lines.joined(separator: "\r\n"), indented, "\u{FEFF}\(plain)",
            "\(lines[0])\n\(wrapped)\n\(lines[lines.count - 1])\n", parameters + plain,
        ]
        let message = Array("message".utf8)
        for (n, form) in forms.enumerated() {
            try folder.write(form, modifiedAt: TimeInterval(n))
            let signing = try SigningKey(path: folder.file())
            #expect(key.isSignature(try signing.key.signature(of: message), of: message), "form \(n)")
        }
    }

    @Test func `key files are found by their names, and a folder is no key file`() throws {
        let folder = try KeyFolder()
        try folder.writeKey(keyID: "CCCCCCCCCC")
        try FileManager.default.createDirectory(atPath: folder.file("AAAAAAAAAA"), withIntermediateDirectories: false)
        try "not a key".write(toFile: folder.path + "/notes.p8", atomically: true, encoding: .utf8)
        let ring = KeyRing(directory: folder.path)
        #expect(ring.keyIDs() == ["AAAAAAAAAA", "CCCCCCCCCC"])
        #expect(ring.fileState(of: "AAAAAAAAAA") == .unreadable && ring.fileState(of: "CCCCCCCCCC") == .ok)
    }

    @Test func `a file is missing until it is created, and read again when it changed`() throws {
        let folder = try KeyFolder()
        let ring = KeyRing(directory: folder.path)
        #expect(ring.fileState(of: Self.keyID) == .missing)
        let first = try folder.writeKey(modifiedAt: 1_000)
        let message = Array("message".utf8)
        #expect(first.isSignature(try ring.key(Self.keyID).get().key.signature(of: message), of: message))

        let second = try folder.writeKey(modifiedAt: 2_000)
        let signature = try ring.key(Self.keyID).get().key.signature(of: message)
        #expect(second.isSignature(signature, of: message))
        #expect(!first.isSignature(signature, of: message))

        try folder.write("bad", modifiedAt: 3_000)
        #expect(ring.fileState(of: Self.keyID) == .unreadable)
        try folder.writeKey(modifiedAt: 4_000)
        #expect(ring.fileState(of: Self.keyID) == .ok)
        try FileManager.default.removeItem(atPath: folder.file())
        #expect(ring.fileState(of: Self.keyID) == .missing)
    }

    /// Kubernetes links each file of a Secret into a folder `..data`, which is a link, too, and swaps only this one.
    @Test(arguments: ["", "/..data"])
    func `a file behind links is read again after a link was swapped`(_ directory: String) throws {
        let folder = try KeyFolder()
        let name = "AuthKey_\(Self.keyID).p8"
        let files = FileManager.default
        func swap(to version: String) throws -> PrivateKey {
            let key = try PrivateKey.p256()
            let place = "\(folder.path)/\(version)"
            try files.createDirectory(atPath: place, withIntermediateDirectories: false)
            try key.pem.write(toFile: "\(place)/\(name)", atomically: true, encoding: .utf8)
            try files.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000)], ofItemAtPath: "\(place)/\(name)")
            try? files.removeItem(atPath: folder.path + "/..data")
            try files.createSymbolicLink(atPath: folder.path + "/..data", withDestinationPath: version)
            return key
        }
        let first = try swap(to: "..1")
        try files.createSymbolicLink(atPath: folder.file(), withDestinationPath: "..data/\(name)")
        let ring = KeyRing(directory: folder.path + directory)
        let message = Array("message".utf8)
        #expect(first.isSignature(try ring.key(Self.keyID).get().key.signature(of: message), of: message))
        let second = try swap(to: "..2")
        #expect(second.isSignature(try ring.key(Self.keyID).get().key.signature(of: message), of: message))
    }
}
