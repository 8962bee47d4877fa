internal import Foundation
internal import GrandstandClient
internal import GrandstandLiveActivities
internal import PhoneFakes
internal import Testing

/// Networks that lose, duplicate, delay and reorder requests, and apps that are killed at any time. Each case has a
/// number, so that it can be repeated.
@Suite(.timeLimit(.minutes(20)))
struct StormTests {
    @Test(arguments: 0..<120)
    func `after all faults the server has the phone's last state`(seed: UInt64) async throws {
        let clock = TestTime()
        let phone = Phone(time: clock.time)
        defer { phone.discard() }
        for key in ["derby", "final"] {
            phone.server.setLookup(key, .found(channelID: "Y2hhbm5lbA=="))
        }
        phone.server.setFate { number, _ in Self.fate(seed, number) }
        var random = Random(seed: seed)
        var app = await phone.launch()
        var wished: Set<String> = []
        for _ in 0..<25 {
            switch random.next(below: 9) {
            case 0, 1: try await app.follow(["team:\(random.next(below: 12))"])
            case 2: try await app.unfollow(["team:\(random.next(below: 12))"])
            case 3:
                let token = String(100_000 + random.next(below: 800_000))
                phone.host.change { $0.facts.tokens["MatchAttributes"] = token }
                phone.host.tell(.startToken(type: "MatchAttributes", token: token))
            case 4:
                let (live, frequent) = (random.next(below: 4) > 0, random.next(below: 2) == 0)
                phone.host.change {
                    $0.facts.liveActivitiesEnabled = live
                    $0.facts.frequentPushesEnabled = frequent
                }
                phone.host.tell(.changed)
            case 5:
                let key = ["derby", "final"][random.next(below: 2)]
                if (try? await app.show(Phone.match(key))) != nil { wished.insert(key) }
            case 6: await app.flush()
            case 7: await app.refresh()
            default:
                await app.stop()
                if random.next(below: 4) == 0 {
                    // The server forgets installations that it has not heard of for 180 days.
                    clock.set(clock.date + 181 * 86_400)
                    phone.server.prune()
                }
                app = await phone.launch()
            }
        }
        // The faults are over. Delayed requests arrive now, in the wrong order.
        phone.server.setFate { _, _ in .arrives }
        await app.flush()
        phone.server.deliverAll()
        phone.host.change { $0.facts.liveActivitiesEnabled = true }
        await app.refresh()
        // If the server has forgotten the phone, the phone registers again. This takes at most a minute of the phone's
        // clock.
        while phone.server.installations.isEmpty { await Task.yield() }
        let status = await app.wait { $0.phase == .upToDate && $0.waitingFor.isEmpty }
        await app.stop()

        let known = try #require(await phone.known(app), "seed \(seed)")
        let condition = await phone.host.condition()
        #expect(known.facts.topics == status.topics, "seed \(seed)")
        #expect(known.facts.tokens == condition.facts.tokens, "seed \(seed)")
        #expect(known.facts.liveActivitiesEnabled == condition.facts.liveActivitiesEnabled, "seed \(seed)")
        #expect(known.facts.frequentPushesEnabled == condition.facts.frequentPushesEnabled, "seed \(seed)")
        // No start is lost or made twice. For each activity, the server has the same event and state as the phone.
        #expect(Set(condition.activities.map(\.eventKey)) == wished, "seed \(seed)")
        #expect(condition.activities.count == wished.count, "seed \(seed)")
        for card in condition.activities {
            #expect(known.activities[card.id]?.state == card.state, "seed \(seed)")
            #expect(known.activities[card.id]?.eventKey == card.eventKey, "seed \(seed)")
        }
        #expect(phone.server.installations.count == 1, "seed \(seed)")
    }

    private static func fate(_ seed: UInt64, _ number: Int) -> FakeServer.Fate {
        var random = Random(seed: seed &* 1_000_003 &+ UInt64(number))
        switch random.next(below: 10) {
        case 0, 1: return .lost
        case 2: return .answerLost
        case 3: return .doubled
        case 4, 5: return .late(random.next(below: 5))
        case 6: return .refused(.device(503, "store-unavailable", retryAfter: 2))
        default: return .arrives
        }
    }
}
