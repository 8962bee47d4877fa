internal import Foundation
internal import GrandstandLiveActivities
internal import Testing

struct PushEnvironmentTests {
    /// A profile as Apple makes it: a property list within a signature.
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

    @Test(arguments: ["development", "production"])
    func `a profile's entitlement is the environment`(name: String) throws {
        let profile = profile("<key>aps-environment</key><string>\(name)</string>")
        #expect(try PushEnvironment(provisioningProfile: profile).rawValue == name)
    }

    @Test func `an app without push notifications has no environment, and is told what to add`() {
        #expect(throws: PushEnvironmentError.noPushEntitlement) {
            try PushEnvironment(provisioningProfile: profile(""))
        }
        #expect("\(PushEnvironmentError.noPushEntitlement)".contains("Push Notifications"))
    }

    @Test func `what is no profile, or says a word that is not known, is no environment`() {
        for odd in [Data(), Data("<?xml".utf8), Data("<?xml version='1.0'?></plist>".utf8)] {
            #expect(throws: PushEnvironmentError.unreadableProfile) {
                try PushEnvironment(provisioningProfile: odd)
            }
        }
        #expect(throws: PushEnvironmentError.unknownEnvironment("staging")) {
            try PushEnvironment(
                provisioningProfile: profile("<key>aps-environment</key><string>staging</string>"))
        }
    }

    @Test func `the App Store's apps have no profile, and the Simulator is Apple's sandbox`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bundle")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bundle = try #require(Bundle(path: folder.path))
        #expect(try PushEnvironment.of(bundle, isSimulator: false) == .production)
        #expect(try PushEnvironment.of(bundle, isSimulator: true) == .development)
    }
}
