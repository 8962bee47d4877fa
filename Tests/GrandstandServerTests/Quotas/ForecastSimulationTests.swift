internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Compares forecasts with what happens afterwards.
@Suite(.timeLimit(.minutes(20)))
struct ForecastSimulationTests {
    /// First, random actions bring a few events into many different situations. Then the forecast is made. In the hours
    /// after it nothing unforeseen happens: organisers end their events at the declared ends, except those that were
    /// overdue already, and nobody declares anything.
    @Test(arguments: 1...5)
    func `the forecast peak occurs at its time, and all places become free`(seed: UInt64) async throws {
        try await withStores { stores in
            var random = SplitMix(seed: seed)
            let season = try await Season(stores, &random)
            for hour in 0..<36 {
                try await season.play(hour, &random)
                stores.clock.advance(by: 3_600)
            }
            let used = try await season.used()
            let forecast = try await stores.quota().forecast
            #expect(forecast.peak >= used)
            var peak = (count: used, at: stores.now)
            let decided = stores.now
            for _ in 0..<(12 * 24) {
                try await season.end(decided: decided)
                let count = try await season.used()
                if count > peak.count { peak = (count, stores.now) }
                stores.clock.advance(by: 3_600)
            }
            #expect(forecast.peak == peak.count)
            #expect(forecast.peakAt == peak.at)
            #expect(try await season.used() == 0)
        }
    }
}

/// Some events of an app, and what their organisers do.
private struct Season {
    let stores: StoreWorld
    let drafts: [(key: String, draft: Contract.EventDraft)]

    init(_ stores: StoreWorld, _ random: inout SplitMix) async throws {
        self.stores = stores
        let start = stores.now
        func at(_ hour: Int) -> Date { start.addingTimeInterval(Double(hour) * 3_600) }
        var drafts: [(key: String, draft: Contract.EventDraft)] = []
        for number in 1...14 {
            let opens = Int.random(in: 0..<70, using: &random)
            let starts = opens + Int.random(in: 1..<20, using: &random)
            let policy: StoragePolicy = Bool.random(using: &random) ? .noMessageStored : .mostRecentMessageStored
            let draft = try Contract.EventDraft.sample(
                startsAt: Bool.random(using: &random) ? at(starts) : nil,
                endsAt: number % 3 == 0 ? nil : at(starts + Int.random(in: 1..<6, using: &random)),
                channelsOpenAt: number % 4 == 0 ? nil : at(opens),
                audiences: [.sample("com.example.Goal", .production, policy), .sample("com.example.Other")])
            drafts.append(("match-\(number)", draft))
        }
        self.drafts = drafts
        for (key, draft) in drafts { try await stores.put(draft, as: key) }
    }

    /// Plays one of the hours that come before the forecast: messages, cancelled events, removed audiences, moved
    /// openings, ends.
    func play(_ hour: Int, _ random: inout SplitMix) async throws {
        try await stores.provision()
        for (name, declared) in drafts {
            var draft = declared
            let key = try EventKey.sample(name)
            guard let event = try await stores.event(key), !event.isOver,
                draft.channelsOpenAt ?? stores.now <= stores.now
            else { continue }
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<8: try await stores.accept(.update(), for: name)
            case 8: try await stores.accept(.end(), for: name)
            case 9: try await stores.cancel(key)
            case 10:
                draft.audiences.removeFirst()
                try await stores.put(draft, as: name)
            case 11:
                draft.channelsOpenAt = stores.now + 50 * 3_600
                if let endsAt = draft.endsAt { draft.endsAt = endsAt.addingTimeInterval(60 * 3_600) }
                try await stores.put(draft, as: name)
            default: break
            }
        }
        try await send()
        try await stores.provision()
    }

    /// Plays one of the hours that come after the forecast, which was made at the time `decided`.
    func end(decided: Date) async throws {
        for (key, _) in drafts {
            guard let event = try await stores.event(key), event.endsAt == stores.now,
                stores.now > decided, !event.isOver
            else { continue }
            try await stores.accept(.end(), for: key)
        }
        try await send()
        while try await !stores.provision().isEmpty {}
    }

    func used() async throws -> Int {
        let quota = try await stores.quota()
        return quota.used + quota.reserved
    }

    private func send() async throws {
        while case let claimed = try await stores.claim(), !claimed.isEmpty {
            for delivery in claimed { try await stores.settle(delivery, .ok) }
        }
    }
}
