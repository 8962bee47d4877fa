internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// A season of 380 fixtures whose channels open a day before, played day by day with a clock that the test sets.
@Suite(.timeLimit(.minutes(5)))
struct SeasonForecastTests {
    private static let limit = 300

    /// 38 rounds of ten matches: one on Friday, six on Saturday, three on Sunday. With a round each week, nine channels
    /// are open at the same time. In a second season all rounds begin within 28 hours, as if thirty leagues played on
    /// one weekend. It needs 248 channels.
    @Test(arguments: [7.0, 0.03])
    func `the forecast peak of a season occurs, within the limit, and every match has its channel`(
        daysBetweenRounds: Double
    ) async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample(channelLimit: Self.limit))
            let fixtures = try Self.season(from: stores.now.addingTimeInterval(3 * 86_400), days: daysBetweenRounds)
            for fixture in fixtures { try await stores.put(fixture) }
            // If a fixture is postponed, its opening moves with it.
            var moved = fixtures
            for index in stride(from: 5, to: 380, by: 40) {
                moved[index].startsAt = moved[index].startsAt?.addingTimeInterval(3 * 86_400)
                moved[index].endsAt = moved[index].endsAt?.addingTimeInterval(3 * 86_400)
                try await stores.put(moved[index])
            }
            try await Self.play(moved, stores)
        }
    }

    private static func season(from first: Date, days: Double) throws -> [EventSpecification] {
        try (0..<380).map { number in
            let (round, match) = (number / 10, number % 10)
            let hours: Double = match == 0 ? 20.5 : match < 7 ? 24 + 15.5 : 48 + 17.5
            let startsAt = first.addingTimeInterval(Double(round) * days * 86_400 + hours * 3_600)
            let policy: StoragePolicy = number % 2 == 0 ? .noMessageStored : .mostRecentMessageStored
            return try EventSpecification.sample(
                "match-\(number)", startsAt: startsAt, endsAt: startsAt.addingTimeInterval(7_200),
                channelsOpenBefore: 86_400, audiences: [.sample("com.example.Goal", .production, policy)])
        }
    }

    /// Stops at every moment at which something is due: openings, kick-offs, ends, and deletions of channels.
    private static func play(_ fixtures: [EventSpecification], _ stores: Stores) async throws {
        let foretold = try await quota(stores).forecast
        #expect(foretold.exceedsAt == nil)
        var peak = (count: 0, at: stores.now)
        var kickOffs = fixtures.sorted { ($0.startsAt ?? .distantPast) < ($1.startsAt ?? .distantPast) }[...]
        var ends = fixtures.sorted { ($0.endsAt ?? .distantPast) < ($1.endsAt ?? .distantPast) }[...]
        while true {
            let due = try await stores.channels.nextDue(now: stores.now)
            guard let next = [kickOffs.first?.startsAt, ends.first?.endsAt, due].compactMap(\.self).min() else { break }
            stores.clock.advance(by: max(0, next.timeIntervalSince(stores.now)))
            while let fixture = ends.first, (fixture.endsAt ?? .distantFuture) <= stores.now {
                ends.removeFirst()
                try await stores.accept(.end(), for: fixture.key.rawValue)
                try await stores.sendOne()
            }
            while try await !stores.provision().isEmpty {}
            while let fixture = kickOffs.first, (fixture.startsAt ?? .distantFuture) <= stores.now {
                kickOffs.removeFirst()
                let event = try await stores.events.event(fixture.key, now: stores.now)
                #expect(event?.channels.map(\.state) == [.active], "\(fixture.key) at its kick-off")
            }
            let quota = try await quota(stores)
            let count = quota.used + quota.reserved
            #expect(count <= limit)
            #expect(quota.forecast.peak <= foretold.peak)
            if count > peak.count { peak = (count, stores.now) }
        }
        #expect(kickOffs.isEmpty && ends.isEmpty)
        #expect(peak.count == foretold.peak)
        #expect(abs(peak.at.timeIntervalSince(foretold.peakAt)) < 0.001)
        #expect(try await quota(stores).used == 0)
    }

    private static func quota(_ stores: Stores) async throws -> Quota {
        let app = try BundleID.sample()
        return try #require(
            try await stores.channels.quotas(now: stores.now, tenure: Stores.tenure).first {
                $0.bundleID == app && $0.environment == .production
            })
    }
}
