internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandStore

/// After a withdrawal everything is as before the broadcast, except for what was already sent.
struct TakingBackTests {
    private func withdraw(_ broadcast: Broadcast, _ stores: Stores) async throws -> Bool? {
        try await stores.outbox.cancel(broadcast.id, now: stores.now)
    }

    /// The content that lookups show.
    private func shown(_ stores: Stores, topic: String = "com.example.goal") async throws -> String? {
        let entry = try await stores.events.lookup(
            topic: topic, in: .production, .sample(), contentState: true, now: stores.now)
        return entry?.contentState.map { String(decoding: $0, as: UTF8.self) }
    }

    private func eventState(_ stores: Stores) async throws -> Event.State? {
        try await stores.events.event(.sample(), now: stores.now)?.state
    }

    @Test func `after each withdrawal, lookups show the newest content that is not withdrawn`() async throws {
        try await withStores { stores in
            try await stores.open()
            try await stores.accept(.update(#"{"n":1}"#))
            try await stores.sendOne()
            let later = try await (2...4).asyncMap { try await stores.accept(.update(#"{"n":\#($0)}"#)) }
            #expect(try await withdraw(later[1], stores) == true)
            #expect(try await shown(stores) == #"{"n":4}"#)
            #expect(try await withdraw(later[2], stores) == true)
            #expect(try await shown(stores) == #"{"n":2}"#)
            #expect(try await withdraw(later[0], stores) == true)
            #expect(try await shown(stores) == #"{"n":1}"#)
        }
    }

    @Test func `each audience goes back to its own content`() async throws {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            try await stores.accept(.update(#"{"n":1}"#))
            try await stores.accept(.update(#"{"n":2}"#, audiences: [audiences[1].id]))
            let third = try await stores.accept(.update(#"{"n":3}"#))
            #expect(try await withdraw(third, stores) == true)
            #expect(try await shown(stores, topic: "com.example.a") == #"{"n":1}"#)
            #expect(try await shown(stores, topic: "com.example.b") == #"{"n":2}"#)
            let sent = try await stores.claim().map { $0.text.contains(#"{"n":1}"#) }
            #expect(sent.count == 2 && sent.contains(true) && sent.contains(false))
        }
    }

    @Test func `an update that the withdrawn message had replaced unsent is sent after all`() async throws {
        try await withStores { stores in
            try await stores.open()
            let first = try await stores.accept(.update(#"{"n":1}"#))
            let second = try await stores.accept(.update(#"{"n":2}"#))
            #expect(try await stores.state(of: first) == .superseded)
            #expect(try await withdraw(second, stores) == true)
            #expect(try await stores.state(of: first) == .queued)
            #expect(try await stores.delivery(of: first).settledAt == nil)
            #expect(try await stores.sendOne().text.contains(#"{"n":1}"#))
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.deliveriesNeverDue() == 0)
        }
    }

    @Test func `after a withdrawal the earlier update waits for its channel or for the message in flight`() async throws
    {
        try await withStores { stores in
            try await stores.put(.sample())
            let first = try await stores.accept(.update(#"{"n":1}"#, expiresIn: 10))
            let second = try await stores.accept(.update(#"{"n":2}"#))
            #expect(try await withdraw(second, stores) == true)
            #expect(try await stores.state(of: first) == .waiting)
            let third = try await stores.accept(.update(#"{"n":3}"#))
            stores.clock.advance(by: 10)
            #expect(try await withdraw(third, stores) == true)
            #expect(try await stores.state(of: first) == .superseded)

            try await stores.provision()
            try await stores.accept(.update(#"{"n":4}"#))
            let underWay = try #require(try await stores.claim().first)
            let fifth = try await stores.accept(.update(#"{"n":5}"#))
            let sixth = try await stores.accept(.update(#"{"n":6}"#))
            #expect(try await withdraw(sixth, stores) == true)
            #expect(try await stores.claim().isEmpty)
            try await stores.settle(underWay, .ok)
            #expect(try await stores.sendOne().text.contains(#"{"n":5}"#))
            #expect(try await stores.state(of: fifth) == .accepted)
        }
    }

    @Test func `a replaced message can be withdrawn, and is not sent later`() async throws {
        try await withStores { stores in
            try await stores.open()
            let first = try await stores.accept(.update(#"{"n":1}"#))
            let second = try await stores.accept(.update(#"{"n":2}"#))
            #expect(try await withdraw(first, stores) == true)
            #expect(try await stores.state(of: first) == .cancelled)
            #expect(try await withdraw(second, stores) == true)
            #expect(try await stores.claim().isEmpty)
            #expect(try await shown(stores) == nil)
            #expect(try await eventState(stores) == .scheduled)
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
            for _ in 1...2 { #expect(try await withdraw(end, stores) == true) }
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
            #expect(try await withdraw(end, stores) == true)
            #expect(try await eventState(stores) == .ended)
            #expect(try await stores.sendOne().text.contains(#"{"n":3}"#))
            #expect(try await withdraw(other, stores) == false)
            #expect(try await eventState(stores) == .ended)
        }
    }

    @Test func `if an event's last end is withdrawn, only the audience of that end continues`()
        async throws
    {
        try await withStores { stores in
            let audiences = [try Audience.sample("com.example.A"), try Audience.sample("com.example.B")]
            try await stores.open(audiences: audiences)
            try await stores.accept(.end(audiences: [audiences[0].id]))
            try await stores.sendOne()
            let last = try await stores.accept(.end())
            try await stores.provision()
            #expect(try await withdraw(last, stores) == true)
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
            #expect(try await withdraw(end, stores) == true)
            let again = try await stores.accept(.end())
            #expect(try await withdraw(again, stores) == true)
            try await stores.events.cancel(key, now: stores.now)
            #expect(try await withdraw(again, stores) == true)
            #expect(try await eventState(stores) == .cancelled)
            #expect(try await problem { try await stores.accept(.update()) } == .eventEnded)
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
            #expect(try await withdraw(end, stores) == true)
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
                async let withdrawn = withdraw(broadcast, stores)
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
