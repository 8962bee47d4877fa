internal import APNsWire
internal import Cryptography
internal import Foundation
internal import GrandstandTestKit
internal import Testing

@testable internal import APNsSimulator

struct CredentialsTests {
    @Test func `a second start uses the files of the first, whose private keys only the owner can read`() throws {
        let folder = try TemporaryFolder()
        let first = try credentials(folder.path)
        let authority = try folder.text("ca.pem")
        for (name, mode) in [
            ("ca.key", 0o600), ("server.key", 0o600), ("AuthKey_SIMULATOR1.p8", 0o600), ("ca.pem", 0o644),
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 5)
        let second = try credentials(folder.path)
        #expect(try folder.text("ca.pem") == authority)
        #expect(try second.serverKey.pem == first.serverKey.pem)
        #expect(try second.providerKeys.map { try $0.key.pem } == first.providerKeys.map { try $0.key.pem })
        let later = Date().addingTimeInterval(3_651 * 86_400)
        #expect(throws: SimulatorError.self, "the authority has expired") {
            try Credentials(in: try Folder(folder.path), teams: [:], now: later)
        }
    }

    @Test func `other provider keys in the folder are accepted, too, for the named teams`() throws {
        let folder = try TemporaryFolder()
        for id in ["ABCDEFGHIJ", "KLMNOPQRST"] { try folder.write(PrivateKey.p256().pem, to: "AuthKey_\(id).p8") }
        let keys = try credentials(folder.path, ["ABCDEFGHIJ": "TEAM000001"]).providerKeys
        #expect(keys.map(\.keyID) == ["ABCDEFGHIJ", "KLMNOPQRST", "SIMULATOR1"])
        #expect(keys.map(\.teamID) == ["TEAM000001", "SIMULATOR1", "SIMULATOR1"])
    }

    @Test(arguments: [("ca.pem", false), ("ca.pem", true), ("ca.key", true), ("AuthKey_SIMULATOR1.p8", true)])
    func `the error names a file that is broken or another tool's, and the file is not changed`(
        name: String, isBroken: Bool
    ) throws {
        let folder = try TemporaryFolder()
        if isBroken { _ = try credentials(folder.path) }
        try folder.write("-----BEGIN NONSENSE-----\n", to: name)
        #expect {
            try credentials(folder.path)
        } throws: { "\($0)".contains(name) && !"\($0)".contains("\n") }
        #expect(try folder.text(name) == "-----BEGIN NONSENSE-----\n")
        let path = folder.file(name)
        #expect {
            try Folder(path + "/inner")
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
        #expect(options.keyTeams == ["A": "T4", "B": "T3", "": "T2"])
        for mistake in ["", "=T", "A=", "="] {
            #expect(throws: SimulatorError.self, "\(mistake)") { try options.setTeams([mistake]) }
        }
    }

    @Test func `scopes of keys are parsed, and mistakes are refused`() throws {
        let scopes = try KeyScope.byKeyID(parsing: ["A=development", "B=production:com.A,com.b", "C=:com.c"])
        #expect(scopes["A"]?.environment == .development)
        #expect(scopes["A"]?.topics == nil)
        #expect(scopes["B"]?.topics == ["com.a", "com.b"])
        #expect(scopes["C"]?.environment == nil)
        for mistake in ["A", "A=staging", "A=production:", "A=production:x,,y"] {
            #expect(throws: SimulatorError.self, "\(mistake)") { try KeyScope.byKeyID(parsing: [mistake]) }
        }
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("simulator", "simulator"),
    ])
    func `printed addresses can be connected to`(host: String, reachable: String) {
        let addresses = SimulatorAddresses(
            host: SimulatorAddresses.reachableHost(host), developmentPort: 1, productionPort: 2, caFile: "d/ca.pem",
            p8File: "d/k.p8")
        #expect(addresses.url(.production) == "https://\(reachable):2")
        #expect(addresses.description.hasPrefix("listening development=https://\(reachable):1 "))
    }
}
