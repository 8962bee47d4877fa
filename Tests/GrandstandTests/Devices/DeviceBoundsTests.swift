internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// The limits on the data of all installations of an app, and on the tokens of one installation.
struct DeviceBoundsTests {
    /// Ten minutes before the end of an hour.
    private static let now = Date(timeIntervalSince1970: 3_600 * 500_000 - 600)

    private static func state(topics: Int, of length: Int = 10, tokens: Int = 0) throws -> InstallationState {
        InstallationState(
            systemVersion: SystemVersion(18),
            startTokens: Dictionary(
                uniqueKeysWithValues: try (0..<tokens).map {
                    ("Type\($0)", try #require(DeviceToken(bytes: [UInt8](repeating: 7, count: 32))))
                }),
            topics: Set(
                try (0..<topics).map {
                    let number = String($0)
                    return try #require(
                        Topic(rawValue: number + String(repeating: "t", count: length - number.count)))
                }))
    }

    private func register(
        _ account: inout DeviceAccount, _ state: InstallationState, after earlier: InstallationState? = nil,
        mostNew: Int? = nil
    ) -> Problem? {
        do throws(Problem) {
            try account.register(state, after: earlier, mostNew: mostNew, at: Self.now)
            return nil
        } catch {
            return error
        }
    }

    @Test
    func `larger registrations share a limit, and beyond it they are refused with the limit and the time to retry`()
        throws
    {
        var account = DeviceAccount()
        let large = try Self.state(topics: 200, of: 128, tokens: 20)
        var accepted = 0
        while register(&account, large) == nil { accepted += 1 }
        #expect(accepted == DeviceBounds.shared / (large.bytes - DeviceBounds.ofRegistration))
        #expect(account.bytes <= account.limit)
        let before = account
        let refused = try #require(register(&account, large))
        #expect(refused.kind == .rateLimited && refused.retryAfter == DeviceBounds.retry)
        #expect(refused.members == [.limit(DeviceBounds.ofRegistration)])
        #expect(account == before)
        // A registration of normal size is accepted whatever the others use.
        account.bytes = 100_000_000
        let usual = try Self.state(topics: 12, tokens: 3)
        #expect(register(&account, usual) == nil && account.bytes == 100_000_000 + usual.bytes)
    }

    @Test func `a large installation may stay as it is and become smaller, but not larger`() throws {
        let (large, larger) = (try Self.state(topics: 100), try Self.state(topics: 101))
        var account = DeviceAccount(installations: 1, bytes: DeviceBounds.shared * 2)
        #expect(register(&account, larger, after: large) != nil)
        #expect(register(&account, large, after: large) == nil)
        #expect(register(&account, large, after: larger) == nil)
        #expect(account.bytes == DeviceBounds.shared * 2 + large.bytes - larger.bytes)
    }

    @Test func `the number of new installations per hour is limited, and known ones do not count`() throws {
        var account = DeviceAccount(installations: 7, created: 4)
        let state = try Self.state(topics: 1)
        #expect(register(&account, state, mostNew: 5) == nil)
        let refused = try #require(register(&account, state, mostNew: 5))
        #expect(refused.kind == .rateLimited && refused.retryAfter == 600 && refused.members == [.limit(5)])
        #expect(register(&account, state, after: state, mostNew: 5) == nil)
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
        for _ in 0..<3 { until = try TokenPace.take(10, until, at: Self.now) }
        let full = until
        let refused = #expect(throws: Problem.self) { try TokenPace.take(1, full, at: Self.now) }
        #expect(refused?.kind == .rateLimited && refused?.retryAfter == 180 && refused?.members == [.limit(20)])
        #expect(try TokenPace.take(0, full, at: Self.now) == full)
        let later = Self.now.addingTimeInterval(180)
        let again = try TokenPace.take(1, full, at: later)
        #expect(throws: Problem.self) { try TokenPace.take(1, again, at: later) }
        #expect(try TokenPace.take(30, again, at: Self.now.addingTimeInterval(86_400)) != nil)
    }
}
