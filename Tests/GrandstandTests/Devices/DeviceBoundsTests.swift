internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// The limits on the new installations of an app, and on the tokens of one installation.
struct DeviceBoundsTests {
    /// Ten minutes before the end of an hour.
    private static let now = Date(timeIntervalSince1970: 3_600 * 500_000 - 600)

    @Test func `the number of new installations per hour is limited`() throws {
        var account = DeviceAccount(installations: 7, created: 4)
        try account.create(mostNew: 5, at: Self.now)
        let refused = #expect(throws: Problem.self) { try account.create(mostNew: 5, at: Self.now) }
        #expect(refused?.kind == .rateLimited && refused?.retryAfter == 600 && refused?.limit == 5)
        #expect(account.installations == 8)
    }

    @Test(arguments: [
        (DeviceAccount(installations: 999, created: 999), false),
        (DeviceAccount(installations: 1_000, created: 1_000), true),
        (DeviceAccount(installations: 11_000, created: 1_000), true),
        (DeviceAccount(installations: 11_001, created: 1_000), false),
        (DeviceAccount(installations: 11_010, created: 10, createdBefore: 1_000), true),
        (DeviceAccount(installations: 5_000_000, created: 400_000), false),
        (DeviceAccount(installations: 5_000_000, created: 500_000), true),
    ])
    func `the limit of new installations is a thousand and a tenth of the known ones`(
        account: DeviceAccount, isSurging: Bool
    ) {
        #expect(account.isSurging == isSurging)
    }

    @Test func `an installation may bring thirty tokens at once, then one every three minutes`() throws {
        var until: Date?
        for _ in 0..<3 { until = try DeviceBounds.pace(10, until, at: Self.now) }
        let full = until
        let refused = #expect(throws: Problem.self) { try DeviceBounds.pace(1, full, at: Self.now) }
        #expect(refused?.kind == .rateLimited && refused?.retryAfter == 180 && refused?.limit == 20)
        #expect(try DeviceBounds.pace(0, full, at: Self.now) == full)
        let later = Self.now.addingTimeInterval(180)
        let again = try DeviceBounds.pace(1, full, at: later)
        #expect(throws: Problem.self) { try DeviceBounds.pace(1, again, at: later) }
        #expect(try DeviceBounds.pace(30, again, at: Self.now.addingTimeInterval(86_400)) != nil)
    }
}
