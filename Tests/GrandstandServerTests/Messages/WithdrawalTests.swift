internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

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

    @Test func `a broadcast sent to one audience cannot be withdrawn from the other`() async throws {
        try await withTwoApps { stores, audiences in
            let accepted = try await stores.accept(.update())
            let claimed = try #require(try await stores.claim(limit: 1).first)
            try await stores.settle(claimed, .ok)
            #expect(try await stores.withdraw(accepted) == false)
            #expect(try await stores.claim().count == 1)
        }
    }

    // MARK: Everything is as before, except for what was already sent

    @Test
    func `after a waiting end is withdrawn the event is live again, and what the end had replaced is sent`()
        async throws
    {
        try await withEvent { stores in
            let update = try await stores.accept(.update(#"{"n":1}"#))
            let end = try await stores.accept(.end(#"{"n":2}"#))
            #expect(try await stores.event()?.state == .ended)
            try await stores.align()
            for _ in 1...2 { #expect(try await stores.withdraw(end) == true) }
            #expect(try await stores.event()?.state == .live)
            #expect(try await stores.read(end)?.state == .cancelled)
            #expect(try await stores.lookup()?.state == .live)
            #expect(try await stores.shown() == #"{"n":1}"#)
            #expect(try await stores.state(of: update) == .queued)
            try await stores.sendOne()
            let other = try await stores.accept(.end(#"{"n":3}"#))
            // The first end's withdrawal is requested again, after another end was accepted. The other end stays.
            #expect(try await stores.withdraw(end) == true)
            #expect(try await stores.event()?.state == .ended)
            #expect(try await stores.sendOne().text.contains(#"{"n":3}"#))
            #expect(try await stores.withdraw(other) == false)
            #expect(try await stores.event()?.state == .ended)
        }
    }

    @Test func `if an event's last end is withdrawn, only the audience of that end continues`() async throws {
        try await withTwoApps { stores, audiences in
            try await stores.accept(.end(audiences: [audiences[0].id]))
            try await stores.sendOne()
            let last = try await stores.accept(.end())
            try await stores.provision()
            #expect(try await stores.withdraw(last) == true)
            #expect(try await stores.event()?.state == .scheduled)
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

    @Test func `the end of a channel without an event can be withdrawn, too`() async throws {
        try await withStores { stores in
            try await stores.apps.put(.sample())
            let channel = try await stores.adopt()
            let target = BroadcastTarget.channel(channel.id)
            let accept = { (request: BroadcastRequest) in
                try await stores.accept([Intake(target, request: request)])[0]
            }
            let end = try await accept(.end()).get()
            #expect(try await accept(.update()).failure?.kind == .eventEnded)
            #expect(try await stores.withdraw(end) == true)
            _ = try await accept(.update(#"{"n":2}"#)).get()
            #expect(try await stores.sendOne().text.contains(#"{"n":2}"#))
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
