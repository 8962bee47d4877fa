internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

struct ScheduledTests {
    @Test func `a scheduled broadcast waits for its time, and its expiration counts from then`() async throws {
        try await withEvent { stores in
            let at = stores.now + 60
            let accepted = try await stores.accept(.update(expiresIn: 10, sendAt: at))
            #expect(accepted.state == .scheduled)
            #expect(try await stores.read(accepted)?.withoutMessage == accepted)
            #expect(try await stores.outbox.nextScheduled() == at)
            stores.clock.advance(by: 59)
            #expect(try await stores.promote() == 0)
            stores.clock.advance(by: 1)
            #expect(try await stores.promote() == 1)
            #expect(try await stores.promote() == 0)
            #expect(try await stores.read(accepted)?.state == .queued)
            let sent = try await stores.sendOne()
            #expect(sent.message.apnsExpiration == Int(at.timeIntervalSince1970) + 10)
            #expect(try sent.timestamp == Int(at.timeIntervalSince1970))
        }
    }

    @Test func `a scheduled broadcast keeps everything that was given`() async throws {
        try await withTwoApps { stores, audiences in
            var request = BroadcastRequest.end(
                #"{"n": 1.50e3}"#, dismissalDate: 1_700_000_500, sendAt: stores.now + 1,
                audiences: [audiences[1].id])
            request.payload.alert = Array(#"{"title":"\u26bd"}"#.utf8)
            request.payload.staleDate = 1_700_000_400
            request.payload.relevanceScore = Array("1e2".utf8)
            request.priority = .lowest
            request.apnsExpiration = 1_700_000_300
            try await stores.accept(request)
            stores.clock.advance(by: 1)
            #expect(try await stores.promote() == 1)
            let sent = try await stores.sendOne()
            #expect(sent.body == request.payload.body(timestamp: 1_700_000_001))
            #expect(sent.message.priority == .lowest)
            #expect(sent.message.apnsExpiration == 1_700_000_300)
            #expect(sent.address.bundleID == audiences[1].bundleID)
        }
    }

    @Test func `a scheduled alert goes with the newest content that was accepted after it, or with any if it has none`()
        async throws
    {
        try await withStores { stores in
            for key in ["match-1", "empty"] { try await stores.open(key) }
            let half = BroadcastRequest.update(#"{"n":1}"#, alert: #"{"title":"Half"}"#, sendAt: stores.now + 60)
            var bare = half
            (bare.payload.contentState, bare.sendAt) = (nil, stores.now + 61)
            for request in [half, bare] { try await stores.accept(request) }
            let homeless = try await stores.accept(bare, for: "empty")
            stores.clock.advance(by: 10)
            try await stores.accept(.update(#"{"n":2}"#))
            try await stores.sendOne()
            stores.clock.advance(by: 49)
            for _ in 0...1 {
                stores.clock.advance(by: 1)
                try await stores.promote()
                #expect(try await stores.sendOne().text.contains(#""content-state":{"n":2},"alert":{"title":"Half"}"#))
            }
            #expect(try await stores.read(homeless)?.state == .cancelled)
            bare.sendAt = nil
            try await refuses(.invalidRequest) { [bare] in try await stores.accept(bare, for: "empty") }
        }
    }

    @Test func `many scheduled broadcasts are sent in the order of their times, a limited number at once`() async throws
    {
        try await withEvent { stores in
            for n in [3, 1, 2] {
                let at = stores.now + Double(n)
                try await stores.accept(.update(alert: #"{"title":"\#(n)"}"#, sendAt: at))
            }
            stores.clock.advance(by: 10)
            #expect(try await stores.promote(limit: 2) == 2)
            #expect(try await stores.promote(limit: 2) == 1)
            for n in 1...3 { #expect(try await stores.sendOne().text.contains(#"{"title":"\#(n)"}"#)) }
        }
    }

    @Test func `a message that is due after the end is not sent, with the reason`() async throws {
        try await withEvent { stores in
            let scheduled = try await stores.accept(.update(sendAt: stores.now + 60))
            try await stores.accept(.end())
            stores.clock.advance(by: 60)
            #expect(try await stores.promote() == 1)
            let late = try #require(try await stores.read(scheduled))
            #expect(late.state == .cancelled)
            #expect(late.deliveries.isEmpty)
            #expect(late.warnings.count == 1)
            #expect(late.warnings.first?.hasPrefix("not sent: ") == true)
            #expect(try await stores.promote() == 0)
        }
    }

    @Test func `a scheduled broadcast is cancelled with its event, like one that waits`() async throws {
        try await withEvent { stores in
            let waiting = try await stores.accept(.update())
            let scheduled = try await stores.accept(.end(sendAt: stores.now + 60))
            try await stores.cancel()
            for broadcast in [waiting, scheduled] {
                #expect(try await stores.read(broadcast)?.state == .cancelled)
            }
            stores.clock.advance(by: 60)
            #expect(try await stores.promote() == 0)
            #expect(try await stores.outbox.nextScheduled() == nil)
            #expect(try await stores.outbox.nextDue() == nil)
        }
    }

    @Test func `a broadcast scheduled by a key of some apps is not sent to apps that joined the event later`()
        async throws
    {
        try await withStores { stores in
            let (own, other) = (try Audience.sample("com.example.Own"), try Audience.sample("com.example.Other"))
            for key in ["match-1", "left"] { try await stores.open(key, audiences: [own]) }
            let mine = AppReach.only([own.bundleID])
            let intakes = try [("match-1", mine), ("match-1", .all), ("left", mine)].map { key, reach in
                Intake(.event(try .sample(key)), request: .update(sendAt: stores.now + 60), within: reach)
            }
            let accepted = try await stores.accept(intakes)
            try await stores.put(.sample(audiences: [own, other]))
            try await stores.put(.sample("left", audiences: [other]))
            stores.clock.advance(by: 60)
            #expect(try await stores.promote() == 3)
            let sent = try await accepted.asyncMap { try #require(try await stores.read($0.get())) }
            #expect(
                sent.map { $0.deliveries.map(\.bundleId) }
                    == [[own], [own, other], []].map { $0.map(\.bundleID.rawValue) })
            #expect(sent[2].state == .cancelled)
            #expect(
                sent[2].warnings == [
                    "not sent: The event no longer has an audience that the broadcast's API key may send to."
                ])
        }
    }
}
