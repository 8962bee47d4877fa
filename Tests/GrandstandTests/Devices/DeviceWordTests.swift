internal import Grandstand
internal import Testing

struct DeviceWordTests {
    @Test func `a token is written in lower case, and shown by its last six digits`() throws {
        let token = try #require(DeviceToken(bytes: [0x80, 0xAB, 0xCD, 0xEF, 0x01, 0x23]))
        #expect(token.hex == "80abcdef0123")
        #expect("\(token)" == "…ef0123")
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
}
