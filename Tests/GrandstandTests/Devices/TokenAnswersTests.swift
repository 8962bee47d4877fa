internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import Testing

/// When many refused tokens are an alarm, and when no more.
struct TokenAnswersTests {
    /// The start of a minute.
    private static let start = Date(timeIntervalSince1970: 1_795_305_600)

    private static func at(minute: Int, second: Double = 0) -> Date {
        start.addingTimeInterval(Double(minute) * 60 + second)
    }

    private static func minute(_ minute: Int, accepted: Int = 0, suspect: Int = 0) -> TokenAnswers.Minute {
        TokenAnswers.Minute(begins: at(minute: minute), accepted: accepted, suspect: suspect)
    }

    /// An alarm of minute 0, raised when it had 20 refusals and nothing else.
    private static func alarm(endedAt: Date? = nil, judged: TokenAnswers.Minute? = nil) -> TokenAnswers.Alarm {
        TokenAnswers.Alarm(since: start, endedAt: endedAt, judged: judged ?? minute(0, suspect: 20))
    }

    @Test(arguments: [
        (0, 0, false), (0, 19, false), (0, 20, true), (180, 20, true), (181, 20, false), (100_000, 11_000, false),
        (99_000, 11_000, true), (1_000_000, 0, false),
    ])
    func `twenty refusals that are a tenth of all raise it`(accepted: Int, suspect: Int, isRaised: Bool) {
        let answers = TokenAnswers(minutes: [Self.minute(0, accepted: accepted, suspect: suspect)], alarm: nil)
        let change: TokenAnswers.Change? = isRaised ? .raised(since: Self.start) : nil
        #expect(answers.change(now: Self.at(minute: 0, second: 30)) == change)
    }

    @Test func `the last ten minutes count, and it is about the first of them with refusals`() {
        let spread = [Self.minute(0, suspect: 10), Self.minute(1, accepted: 5), Self.minute(9, suspect: 10)]
        #expect(
            TokenAnswers(minutes: spread, alarm: nil).change(now: Self.at(minute: 9, second: 59))
                == .raised(since: Self.start))
        #expect(TokenAnswers(minutes: spread, alarm: nil).change(now: Self.at(minute: 10)) == nil)
        let late = [Self.minute(1, accepted: 5), Self.minute(3, suspect: 20)]
        #expect(
            TokenAnswers(minutes: late, alarm: nil).change(now: Self.at(minute: 3))
                == .raised(since: Self.at(minute: 3)))
    }

    @Test(
        arguments: [
            (19, 0, nil), (20, 0, .ended), (19, 1, .ended), (18, 2, nil), (0, 19, nil), (0, 20, .confirmed),
            (181, 20, .ended), (180, 20, .confirmed),
        ] as [(Int, Int, TokenAnswers.Change?)])
    func `twenty later answers end it when less than a tenth are refusals`(
        accepted: Int, suspect: Int, change: TokenAnswers.Change?
    ) {
        let now = Self.at(minute: 1, second: 30)
        // In the minute that was judged already, in the next, or half and half.
        let same = [Self.minute(0, accepted: accepted, suspect: 20 + suspect)]
        let next = [Self.minute(0, suspect: 20), Self.minute(1, accepted: accepted, suspect: suspect)]
        let both = [
            Self.minute(0, accepted: accepted / 2, suspect: 20 + suspect / 2),
            Self.minute(1, accepted: accepted - accepted / 2, suspect: suspect - suspect / 2),
        ]
        for minutes in [same, next, both] {
            #expect(TokenAnswers(minutes: minutes, alarm: Self.alarm()).change(now: now) == change)
        }
    }

    @Test func `what was judged does not have to be outweighed`() {
        let judged = Self.minute(5, accepted: 10, suspect: 90_000)
        let mended = TokenAnswers(
            minutes: [Self.minute(4, suspect: 90_000), Self.minute(5, accepted: 30, suspect: 90_000)],
            alarm: Self.alarm(judged: judged))
        #expect(mended.change(now: Self.at(minute: 5)) == .ended)
    }

    @Test func `one that ended is not raised by the refusals it was about, but by others`() {
        let ended = Self.alarm(endedAt: Self.at(minute: 1))
        let minutes = [Self.minute(0, suspect: 20), Self.minute(1, accepted: 30)]
        #expect(TokenAnswers(minutes: minutes, alarm: ended).change(now: Self.at(minute: 1)) == nil)
        #expect(
            TokenAnswers(minutes: minutes + [Self.minute(2, suspect: 20)], alarm: ended)
                .change(now: Self.at(minute: 2)) == .raised(since: Self.at(minute: 2)))
    }

    @Test func `it stands for a day, then refusals raise another`() {
        let alarm = Self.alarm()
        let day = 24 * 60
        #expect(alarm.stands(at: Self.at(minute: day - 1)) && !alarm.stands(at: Self.at(minute: day)))
        #expect(!Self.alarm(endedAt: Self.start).stands(at: Self.start))
        let again = TokenAnswers(minutes: [Self.minute(day, suspect: 20)], alarm: alarm)
        #expect(again.change(now: Self.at(minute: day)) == .raised(since: Self.at(minute: day)))
    }

    @Test func `it names the likely cause`() throws {
        func refused(_ reason: String, _ environment: APNsEnvironment) throws -> TokensRefused {
            let bundleID = try #require(BundleID(rawValue: "com.example.Goal"))
            return TokensRefused(
                app: AppEnvironment(bundleID: bundleID, environment: environment), reason: reason, refused: 20,
                answers: 35, since: Self.start)
        }
        let bad = try refused("BadDeviceToken", .production)
        #expect(
            bad.finding
                == "APNs refused 20 of 35 pushes to device tokens since 2026-11-22T00:00:00.000Z, the last with "
                + "BadDeviceToken")
        #expect(bad.cause.contains("signed for development") && bad.cause.hasSuffix("registered for production"))
        #expect(try refused("BadDeviceToken", .development).cause.hasSuffix("registered for development"))
        #expect(bad.remedy.contains("aps-environment"))
        let topic = try refused("DeviceTokenNotForTopic", .production)
        #expect(topic.cause == "tokens of another app are registered for com.example.Goal")
        #expect(topic.remedy.contains("its own bundle ID"))
    }

    @Test func `a quota's alarms are in order of their gravity`() throws {
        var quota = Quota(
            bundleID: try #require(BundleID(rawValue: "com.example.Goal")), environment: .production, limit: 1,
            byState: [:], byStoragePolicy: [:], forecast: Forecast(peak: 0, peakAt: Self.start, exceedsAt: nil),
            reconciliationAlarm: .listIncomplete)
        #expect(quota.alarm == .listIncomplete)
        quota.tokensRefused = TokensRefused(
            app: AppEnvironment(bundleID: quota.bundleID, environment: .production), reason: "BadDeviceToken",
            refused: 20, answers: 20, since: Self.start)
        #expect(quota.alarms == [.tokensRefused, .listIncomplete])
        quota.isCapabilityOff = true
        #expect(quota.alarms == [.capabilityOff, .tokensRefused, .listIncomplete])
        quota.reconciliationAlarm = .capabilityOff
        #expect(quota.alarms == [.capabilityOff, .tokensRefused])
        #expect(quota.alarm == .capabilityOff)
    }
}
