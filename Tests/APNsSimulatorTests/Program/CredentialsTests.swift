internal import APNsWire
internal import Cryptography
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import APNsSimulator

struct CredentialsTests {
    @Test func `only the owner can read private keys, and everyone can read certificates`() throws {
        let folder = try TemporaryFolder()
        _ = try credentials(folder.path)
        for (name, mode) in [
            ("ca.key", 0o600), ("server.key", 0o600), ("AuthKey_SIMULATOR1.p8", 0o600), ("ca.pem", 0o644),
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(name)")
        }
        #expect(try folder.text("AuthKey_SIMULATOR1.p8").hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 5)
    }

    @Test func `a second start uses the files of the first`() throws {
        let folder = try TemporaryFolder()
        let first = try credentials(folder.path)
        let authority = try folder.text("ca.pem")
        let second = try credentials(folder.path)
        #expect(try folder.text("ca.pem") == authority)
        #expect(try second.serverKey.pem == first.serverKey.pem)
        #expect(try second.providerKeys.map { try $0.key.pem } == first.providerKeys.map { try $0.key.pem })
    }

    @Test func `other provider keys in the folder are accepted, too, for the named teams`() throws {
        let folder = try TemporaryFolder()
        for id in ["ABCDEFGHIJ", "KLMNOPQRST"] {
            try folder.write(PrivateKey.p256().pem, to: "AuthKey_\(id).p8")
        }
        let teams = ["ABCDEFGHIJ": "TEAM000001"]
        let keys = try credentials(folder.path, teams).providerKeys
        #expect(keys.map(\.keyID) == ["ABCDEFGHIJ", "KLMNOPQRST", "SIMULATOR1"])
        #expect(keys.map(\.teamID) == ["TEAM000001", "SIMULATOR1", "SIMULATOR1"])
    }

    @Test(arguments: ["ca.pem", "ca.key", "server.key", "AuthKey_SIMULATOR1.p8"])
    func `the error names a broken file, and the file is not changed`(name: String) throws {
        let folder = try TemporaryFolder()
        _ = try credentials(folder.path)
        try folder.write("-----BEGIN NONSENSE-----\n", to: name)
        let path = folder.file(name)
        #expect {
            try credentials(folder.path)
        } throws: { error in
            let text = "\(error)"
            return text.contains(path) && !text.contains("\n") || name == "ca.pem" && text.contains("ca.pem")
        }
        #expect(try folder.text(name) == "-----BEGIN NONSENSE-----\n")
    }

    @Test func `the ca.pem of another tool is never overwritten`() throws {
        let folder = try TemporaryFolder()
        try folder.write("theirs", to: "ca.pem")
        #expect(throws: SimulatorError.self) { try credentials(folder.path) }
        #expect(try folder.text("ca.pem") == "theirs")
    }

    @Test func `an expired authority is refused`() throws {
        let folder = try TemporaryFolder()
        _ = try credentials(folder.path)
        let later = Date().addingTimeInterval(3_651 * 86_400)
        #expect(throws: SimulatorError.self) {
            try Credentials(in: try Folder(folder.path), teams: [:], now: later)
        }
    }

    @Test func `the error names a folder that cannot be used`() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "file")
        let path = folder.file("file")
        #expect {
            try Folder(path + "/inner")
        } throws: { "\($0)".contains(path) }
        #expect {
            try credentials(path)
        } throws: { "\($0)".contains(path) }
    }

    @discardableResult
    private func credentials(_ path: String, _ teams: [String: String] = [:]) throws -> Credentials {
        try Credentials(in: try Folder(path), teams: teams, now: Date())
    }
}

struct SimulatorOptionsTests {
    @Test func `a team option is for all keys or for one, and its last value counts`() throws {
        var options = SimulatorOptions(directory: "x")
        try options.setTeams(["A=T1", "T2", "B=T3", "A=T4"])
        #expect(options.teams == ["A": "T4", "B": "T3", "": "T2"])
        for mistake in ["", "=T", "A=", "="] {
            #expect(throws: SimulatorError.self, "\(mistake)") { try options.setTeams([mistake]) }
        }
    }

    @Test func `scopes of keys are parsed, and mistakes are refused`() throws {
        let scopes = try KeyScope.list(parsing: ["A=development", "B=production:com.A,com.b", "C=:com.c"])
        #expect(scopes["A"]?.environment == .development)
        #expect(scopes["A"]?.topics == nil)
        #expect(scopes["B"]?.topics == ["com.a", "com.b"])
        #expect(scopes["C"]?.environment == nil)
        for mistake in ["A", "A=staging", "A=production:", "A=production:x,,y"] {
            #expect(throws: SimulatorError.self, "\(mistake)") { try KeyScope.list(parsing: [mistake]) }
        }
    }

    @Test(arguments: [(-1, false), (0, true), (65_534, true), (65_535, false)])
    func `invalid ports are refused`(port: Int, isValid: Bool) {
        var options = SimulatorOptions(directory: "x")
        options.port = port
        #expect(((try? options.validate()) != nil) == isValid)
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("simulator", "simulator"),
    ])
    func `printed addresses can be connected to`(host: String, reachable: String) {
        let addresses = SimulatorAddresses(
            host: SimulatorAddresses.reachable(host), developmentPort: 1, productionPort: 2, caFile: "d/ca.pem",
            keyFile: "d/k.p8")
        #expect(addresses.url(.production) == "https://\(reachable):2")
        #expect(addresses.description.hasPrefix("listening development=https://\(reachable):1 "))
    }
}
