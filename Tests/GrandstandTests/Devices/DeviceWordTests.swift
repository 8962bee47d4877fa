internal import Grandstand
internal import Testing

/// Which texts are accepted as tokens, versions, topics and types of activities.
struct DeviceWordTests {
    @Test func `a token is read in upper and lower case, shown by its last six digits and written in lower case`()
        throws
    {
        let token = try #require(DeviceToken(hex: "80ABcdef0123"))
        #expect(token.bytes == [0x80, 0xAB, 0xCD, 0xEF, 0x01, 0x23])
        #expect(token.hex == "80abcdef0123")
        #expect("\(token)" == "…ef0123")
        #expect(DeviceToken(bytes: token.bytes) == token)
        #expect(DeviceToken(hex: String(repeating: "0f", count: 512)) != nil)
    }

    @Test(arguments: ["", "8", "80a", "80 ab", "0x80", "zz", "80é", String(repeating: "0f", count: 513)])
    func `other text is not a token`(text: String) {
        #expect(DeviceToken(hex: text) == nil)
    }

    @Test func `versions are read and compared by their first two parts`() throws {
        let version = try #require(SystemVersion("18.4.1"))
        #expect(version == SystemVersion(18, 4))
        #expect(SystemVersion("17") == SystemVersion(17, 0))
        #expect(SystemVersion(number: version.number) == version)
        #expect(SystemVersion(17, 10) > SystemVersion(17, 2))
        #expect(SystemVersion(17, 1) < .firstWithStarts)
        #expect(SystemVersion(17, 2) >= .firstWithStarts)
        #expect(SystemVersion(17, 999) < .firstWithChannels)
    }

    @Test(arguments: ["", "18.", ".4", "18,4", "iOS 18", "1000", "18.4.1.2.3", "-1", "18.4b", "١٨"])
    func `other text is not a version`(text: String) {
        #expect(SystemVersion(text) == nil)
    }

    @Test func `a topic has the characters of an event key`() {
        #expect(Topic(rawValue: "team:rapid-1_a.B") != nil)
        for text in ["", "a b", "team/rapid", "é", String(repeating: "x", count: 129)] {
            #expect(Topic(rawValue: text) == nil)
            #expect(!DeviceActivity.isID(text))
        }
        #expect(DeviceActivity.isID("8A2F3C1B-0000-4000-8000-000000000001"))
    }
}
