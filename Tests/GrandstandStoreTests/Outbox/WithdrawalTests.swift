internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

struct WithdrawalTests {
    @Test func `a withdrawn broadcast names the first key that withdrew it, also if it was scheduled`() async throws {
        try await withStores { stores in
            try await stores.open()
            let owner = AuditActor.key(id: UUID(), name: "owner")
            let waiting = try await stores.accept(.update())
            let scheduled = try await stores.accept(.update(sendAt: stores.now + 60))
            #expect(try await stores.outbox.broadcast(waiting.id)?.withdrawnBy == nil)
            for broadcast in [waiting, scheduled] {
                for actor in [owner, .commandLine] {
                    #expect(
                        try await stores.outbox.cancel(broadcast.id, within: .all, by: actor, now: stores.now) == true)
                }
                let read = try await stores.outbox.broadcast(broadcast.id)
                #expect(read?.state == .cancelled)
                #expect(read?.withdrawnBy == "key:owner")
                #expect(read?.by == "grandstand")
            }
            #expect(try await stores.outbox.nextDue() == nil)
        }
    }

    @Test func `a broadcast under way, sent or given back cannot be withdrawn, and an unknown one is not found`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let sent = try await stores.accept(.update())
            let claimed = try #require(try await stores.claim().first)
            #expect(try await stores.withdraw(sent) == false)
            try await stores.settle(claimed, .ok)
            #expect(try await stores.withdraw(sent) == false)
            let end = try await stores.accept(.end())
            // A message that was given back when the replica stopped may have been sent already.
            try await stores.outbox.release(try await stores.claim(), replica: stores.replica, now: stores.now)
            #expect(try await stores.withdraw(end) == false)
            #expect(try await stores.outbox.cancel(UUID(), now: stores.now) == nil)
        }
    }

    @Test func `a broadcast sent to one audience cannot be withdrawn from the other`() async throws {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            let accepted = try await stores.accept(.update())
            let claimed = try #require(try await stores.claim(limit: 1).first)
            try await stores.settle(claimed, .ok)
            #expect(try await stores.withdraw(accepted) == false)
            #expect(try await stores.claim().count == 1)
        }
    }

    // MARK: Everything is as before, except for what was already sent

    /// The content that lookups show.
    private func shown(_ stores: Stores, topic: String = "com.example.goal") async throws -> String? {
        let entry = try await stores.events.lookup(
            topic: topic, in: .production, .sample(), contentState: true, now: stores.now)
        return entry?.contentState.map { String(decoding: $0, as: UTF8.self) }
    }

    private func eventState(_ stores: Stores) async throws -> Event.State? {
        try await stores.events.event(.sample(), now: stores.now)?.state
    }

    @Test func `each audience goes back to its own content`() async throws {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            try await stores.accept(.update(#"{"n":1}"#))
            try await stores.accept(.update(#"{"n":2}"#, audiences: [audiences[1].id]))
            let third = try await stores.accept(.update(#"{"n":3}"#))
            #expect(try await stores.withdraw(third) == true)
            #expect(try await shown(stores, topic: "com.example.a") == #"{"n":1}"#)
            #expect(try await shown(stores, topic: "com.example.b") == #"{"n":2}"#)
            let sent = try await stores.claim().map { $0.text.contains(#"{"n":1}"#) }
            #expect(sent.count == 2 && sent.contains(true) && sent.contains(false))
        }
    }

    @Test
    func `after a waiting end is withdrawn the event is live again, and what the end had replaced is sent`()
        async throws
    {
        try await withStores { stores in
            try await stores.open()
            let update = try await stores.accept(.update(#"{"n":1}"#))
            let end = try await stores.accept(.end(#"{"n":2}"#))
            #expect(try await eventState(stores) == .ended)
            try await stores.align()
            for _ in 1...2 { #expect(try await stores.withdraw(end) == true) }
            #expect(try await eventState(stores) == .live)
            #expect(try await stores.outbox.broadcast(end.id)?.state == .cancelled)
            #expect(
                try await stores.events.lookup(
                    topic: "com.example.goal", in: .production, .sample(), contentState: false, now: stores.now)?.state
                    == .live)
            #expect(try await shown(stores) == #"{"n":1}"#)
            #expect(try await stores.state(of: update) == .queued)
            try await stores.sendOne()
            let other = try await stores.accept(.end(#"{"n":3}"#))
            // The first end's withdrawal is requested again, after another end was accepted. The other end stays.
            #expect(try await stores.withdraw(end) == true)
            #expect(try await eventState(stores) == .ended)
            #expect(try await stores.sendOne().text.contains(#"{"n":3}"#))
            #expect(try await stores.withdraw(other) == false)
            #expect(try await eventState(stores) == .ended)
        }
    }

    @Test func `if an event's last end is withdrawn, only the audience of that end continues`() async throws {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            try await stores.accept(.end(audiences: [audiences[0].id]))
            try await stores.sendOne()
            let last = try await stores.accept(.end())
            try await stores.provision()
            #expect(try await stores.withdraw(last) == true)
            #expect(try await eventState(stores) == .scheduled)
            try await stores.provision()
            let active = try await stores.pool.query("select bundle_id from channels where state = 'active'")
            #expect(try active.map { try $0.decode(String.self, "bundle_id") } == ["com.example.B"])
            let update = try await stores.accept(.update())
            #expect(update.deliveries.map(\.bundleID.rawValue) == ["com.example.B"])
            #expect(try await stores.sendOne().address.bundleID.rawValue == "com.example.B")
        }
    }

    @Test func `withdrawing an end does not reopen an event that was closed meanwhile`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let end = try await stores.accept(.end())
            #expect(try await stores.withdraw(end) == true)
            let again = try await stores.accept(.end())
            #expect(try await stores.withdraw(again) == true)
            try await stores.events.cancel(key, now: stores.now)
            #expect(try await stores.withdraw(again) == true)
            #expect(try await eventState(stores) == .cancelled)
            try await refuses(.eventEnded) { try await stores.accept(.update()) }
        }
    }

    @Test func `the end of a channel without an event can be withdrawn, too`() async throws {
        try await withStores { stores in
            try await stores.open()
            let channel = try await stores.channel()
            try await stores.pool.query("delete from audiences")
            try await stores.pool.query("update lanes set channel = null")
            try await stores.pool.query("update channels set event_key = null")
            let target = BroadcastTarget.channel(channel.id)
            let accept = { (request: BroadcastRequest) in
                try await stores.outbox.accept(
                    [BroadcastIntake(target, request: request)], now: stores.now, plan: Stores.plan)[0]
            }
            let end = try await accept(.end()).get()
            #expect(try await accept(.update()).failure?.kind == .eventEnded)
            #expect(try await stores.withdraw(end) == true)
            _ = try await accept(.update(#"{"n":2}"#)).get()
            #expect(try await stores.sendOne().text.contains(#"{"n":2}"#))
        }
    }

    @Test func `a message is either withdrawn or sent, even if both are tried at once`() async throws {
        try await withStores { stores in
            try await stores.open()
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
