internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
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
            // Many are sent in the order of their times, a limited number at once.
            for n in [3, 1, 2] {
                try await stores.accept(.update(alert: #"{"title":"\#(n)"}"#, sendAt: stores.now + Double(n)))
            }
            stores.clock.advance(by: 10)
            #expect(try await stores.promote(limit: 2) == 2)
            #expect(try await stores.promote(limit: 2) == 1)
            for n in 1...3 { #expect(try await stores.sendOne().text.contains(#"{"title":"\#(n)"}"#)) }
        }
    }

    @Test func `a scheduled broadcast keeps everything that was given`() async throws {
        try await withTwoApps { stores, audiences in
            var request = Contract.BroadcastDraft.end(
                #"{"n": 1.50e3}"#, dismissalDate: 1_700_000_500, sendAt: stores.now + 1,
                audiences: [audiences[1].id])
            request.alert = RawJSON(unchecked: #"{"title":"\u26bd"}"#.utf8)
            request.staleDate = Date(timeIntervalSince1970: 1_700_000_400)
            request.relevanceScore = RawJSON(unchecked: "1e2".utf8)
            request.priority = 1
            request.apnsExpiration = 1_700_000_300
            try await stores.accept(request)
            stores.clock.advance(by: 1)
            #expect(try await stores.promote() == 1)
            let sent = try await stores.sendOne()
            #expect(sent.body == request.payload().body(timestamp: 1_700_000_001))
            #expect(sent.message.priority == .lowest)
            #expect(sent.message.apnsExpiration == 1_700_000_300)
            #expect(sent.address.bundleID == audiences[1].bundleID)
        }
    }

    @Test func `a scheduled alert goes with newer content, or with any content if it has none`() async throws {
        try await withStores { stores in
            for key in ["match-1", "empty"] { try await stores.open(key) }
            let half = Contract.BroadcastDraft.update(#"{"n":1}"#, alert: #"{"title":"Half"}"#, sendAt: stores.now + 60)
            var bare = half
            (bare.contentState, bare.sendAt) = (nil, .at(stores.now + 61))
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

    @Test func `a message due after the end is not sent, with the reason, nor after a cancellation`() async throws {
        try await withEvent { stores in
            try await stores.open("off")
            let late = try await stores.accept(.update(sendAt: stores.now + 60))
            try await stores.accept(.end())
            let waiting = try await stores.accept(.update(), for: "off")
            let scheduled = try await stores.accept(.end(sendAt: stores.now + 60), for: "off")
            try await stores.cancel("off")
            for broadcast in [waiting, scheduled] { #expect(try await stores.read(broadcast)?.state == .cancelled) }
            try await stores.sendOne()
            #expect(try await stores.outbox.nextDue() == nil)
            stores.clock.advance(by: 60)
            #expect(try await stores.promote() == 1)
            let unsent = try #require(try await stores.read(late))
            #expect(unsent.state == .cancelled && unsent.deliveries.isEmpty)
            #expect(unsent.warnings.count == 1 && unsent.warnings[0].hasPrefix("not sent: "))
            #expect(try await stores.promote() == 0)
            #expect(try await stores.outbox.nextScheduled() == nil)
        }
    }

    @Test func `a broadcast scheduled by a key of some apps is not sent to apps that joined later`() async throws {
        try await withStores { stores in
            let (own, other) = (try Audience.sample("com.example.Own"), try Audience.sample("com.example.Other"))
            for key in ["match-1", "left"] { try await stores.open(key, audiences: [own]) }
            let mine = AppReach.only([own.bundleID])
            let intakes = try [("match-1", mine), ("match-1", .all), ("left", mine)].map { key, reach in
                Intake(.event(try .sample(key)), request: .update(sendAt: stores.now + 60), within: reach)
            }
            let accepted = try await stores.accept(intakes)
            try await stores.put(.sample(audiences: [own, other]))
            try await stores.put(.sample(audiences: [other]), as: "left")
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

struct WithdrawalTests {
    @Test func `a withdrawn broadcast and its entry name the first key`() async throws {
        try await withEvent { stores in
            let owner = AuditActor.key(id: UUID(), name: "owner")
            let waiting = try await stores.accept(.update())
            let scheduled = try await stores.accept(.update(sendAt: stores.now + 60))
            for broadcast in [waiting, scheduled] {
                for actor in [owner, .commandLine] {
                    #expect(
                        try await stores.outbox.cancel(broadcast.uuid, within: .all, by: actor, now: stores.now) == true
                    )
                }
                let read = try await stores.read(broadcast)
                #expect(read?.state == .cancelled && read?.withdrawnBy == "key:owner" && read?.by == "grandstand")
            }
            #expect(try await stores.outbox.nextDue() == nil)
            let sent = try await stores.accept(.update())
            try await stores.sendOne()
            #expect(try await stores.withdraw(sent) == false)
            let entries = try await stores.audited(AuditFilter(action: .broadcastWithdrawn))
            #expect(entries.map(\.broadcast) == [scheduled.id, waiting.id])
            #expect(entries.map(\.actor) == ["key:owner", "key:owner"])
        }
    }

    // MARK: Everything is as before, except for what was already sent

    @Test func `after a waiting end is withdrawn the event is live, and what the end replaced is sent`() async throws {
        try await withEvent { stores in
            try await stores.accept(.update(#"{"n":1}"#))
            let end = try await stores.accept(.end(#"{"n":2}"#))
            #expect(try await stores.event()?.state == .ended)
            try await stores.align()
            for _ in 1...2 { #expect(try await stores.withdraw(end) == true) }
            #expect(try await stores.event()?.state == .live)
            #expect(try await stores.read(end)?.state == .cancelled)
            #expect(try await stores.sendOne().text.contains(#"{"n":1}"#))
            let other = try await stores.accept(.end(#"{"n":3}"#))
            // The first end's withdrawal is requested again, after another end was accepted. The other end stays.
            #expect(try await stores.withdraw(end) == true)
            #expect(try await stores.event()?.state == .ended)
            #expect(try await stores.sendOne().text.contains(#"{"n":3}"#))
            #expect(try await stores.withdraw(other) == false)
            #expect(try await stores.event()?.state == .ended)
        }
    }

    @Test func `a sent broadcast stays, and after a last end's withdrawal its audience continues`() async throws {
        try await withTwoApps { stores, audiences in
            let sent = try await stores.accept(.update())
            for _ in 1...2 {
                let claimed = try await stores.claim(limit: 1)
                #expect(claimed.count == 1)
                for delivery in claimed { try await stores.settle(delivery, .ok) }
                #expect(try await stores.withdraw(sent) == false)
            }
            try await stores.accept(.end(audiences: [audiences[0].id]))
            try await stores.sendOne()
            let last = try await stores.accept(.end())
            try await stores.provision()
            #expect(try await stores.withdraw(last) == true)
            #expect(try await stores.event()?.state == .live)
            try await stores.provision()
            #expect(try await stores.rows("channels where state = 'active' and bundle_id = 'com.example.A'") == 0)
            #expect(try await stores.accept(.update()).deliveries.map(\.bundleId) == [audiences[1].bundleID.rawValue])
            #expect(try await stores.sendOne().address.bundleID == audiences[1].bundleID)
        }
    }

    @Test func `withdrawing an end does not reopen an event that was closed meanwhile`() async throws {
        try await withEvent { stores in
            let end = try await stores.accept(.end())
            #expect(try await stores.withdraw(end) == true)
            let again = try await stores.accept(.end())
            #expect(try await stores.withdraw(again) == true)
            try await stores.cancel()
            #expect(try await stores.withdraw(again) == true)
            #expect(try await stores.event()?.state == .cancelled)
            try await refuses(.eventEnded) { try await stores.accept(.update()) }
        }
    }

    @Test func `a message is either withdrawn or sent, even if both are tried at once`() async throws {
        try await withEvent { stores in
            for n in 1...40 {
                let broadcast = try await stores.accept(.update(#"{"n":\#(n)}"#))
                async let claimed = stores.claim()
                async let withdrawn = stores.withdraw(broadcast)
                let (sent, isWithdrawn) = (try await claimed, try await withdrawn == true)
                for delivery in sent { try await stores.settle(delivery, .ok) }
                // A claim that found the lane locked tries again.
                let late = try await stores.claim()
                for delivery in late { try await stores.settle(delivery, .ok) }
                #expect((sent + late).isEmpty == isWithdrawn)
                #expect(try await stores.state(of: broadcast) == (isWithdrawn ? .cancelled : .accepted))
            }
        }
    }
}
