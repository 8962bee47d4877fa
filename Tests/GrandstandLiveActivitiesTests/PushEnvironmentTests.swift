internal import Foundation
internal import GrandstandLiveActivities
internal import Testing

struct PushEnvironmentTests {
    /// A profile in Apple's form: a property list within a signature.
    private func profile(_ entitlements: String) -> Data {
        Data([0x30, 0x82, 0x2F, 0x17, 0x06, 0x09, 0x00, 0xFF])
            + Data(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0"><dict>
                <key>AppIDName</key><string>Stadium</string>
                <key>Entitlements</key><dict>
                <key>application-identifier</key><string>TEAM123456.com.example.Stadium</string>
                \(entitlements)
                </dict></dict></plist>
                """.utf8) + Data([0xA0, 0x82, 0x00, 0x3C, 0x3F])
    }

    @Test func `the environment is in the profile's entitlement, and any other profile is refused`() throws {
        func read(_ name: String) throws -> PushEnvironment {
            try PushEnvironment(provisioningProfile: profile("<key>aps-environment</key><string>\(name)</string>"))
        }
        for name in ["development", "production"] { #expect(try read(name).rawValue == name) }
        #expect(throws: PushEnvironmentError.unknownEnvironment("staging")) { try read("staging") }
        #expect(throws: PushEnvironmentError.noPushEntitlement) {
            try PushEnvironment(provisioningProfile: profile(""))
        }
        for odd in [Data(), Data("<?xml".utf8), Data("<?xml version='1.0'?></plist>".utf8)] {
            #expect(throws: PushEnvironmentError.unreadableProfile) { try PushEnvironment(provisioningProfile: odd) }
        }
    }

    @Test func `apps from the App Store have no profile, and the Simulator uses the sandbox`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bundle")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bundle = try #require(Bundle(path: folder.path))
        #expect(try PushEnvironment.of(bundle, isSimulator: false) == .production)
        #expect(try PushEnvironment.of(bundle, isSimulator: true) == .development)
    }
}
