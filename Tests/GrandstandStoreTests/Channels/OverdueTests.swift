internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandStore

/// Events without an end.
@Suite(.timeLimit(.minutes(5)))
struct OverdueTests {
    @Test func `an event whose end was never sent expires twelve hours after endsAt, with an audit entry`()
        async throws
    {
        try await withStores { stores in
            let endsAt = stores.now.addingTimeInterval(3_600)
            try await stores.put(.sample(endsAt: endsAt))
            try await stores.put(.sample("no-end", startsAt: endsAt))
            try await stores.provision()
            stores.clock.advance(by: 3_600 + 12 * 3_600 - 1)
            try await stores.align()
            #expect(try await stores.events.event(.sample(), now: stores.now)?.state != .ended)
            stores.clock.advance(by: 1)
            try await stores.align()
            #expect(try await stores.events.event(.sample(), now: stores.now)?.state == .ended)
            #expect(try await stores.channel().state == .retiring)
            #expect(try await stores.channel(of: "no-end").state == .active)
            #expect(try await problem { try await stores.accept(.update()) } == .eventEnded)
            let entries = try await stores.auditLog.entries(where: AuditFilter(action: .eventExpired), PageRequest())
            #expect(entries.items.map(\.subject.eventKey) == [try .sample()])
        }
    }

    @Test func `an event with recent or scheduled broadcasts is not overdue`() async throws {
        try await withStores { stores in
            for key in ["sent", "scheduled"] {
                try await stores.put(.sample(key, endsAt: stores.now.addingTimeInterval(60)))
            }
            try await stores.provision()
            stores.clock.advance(by: 20 * 3_600)
            try await stores.accept(.update(), for: "sent")
            try await stores.sendOne()
            try await stores.accept(.update(sendAt: stores.now.addingTimeInterval(3_600)), for: "scheduled")
            try await stores.align()
            for key in ["sent", "scheduled"] {
                #expect(try await stores.channel(of: key).state == .active)
            }
        }
    }

    /// Whether the server closed the event by itself.
    private func isClosed(_ stores: Stores, _ key: String = "match-1") async throws -> Bool {
        try await stores.align()
        return try await stores.events.event(.sample(key), now: stores.now)?.state == .ended
    }

    @Test func `an event without endsAt expires after the quiet time`() async throws {
        try await withStores { stores in
            try await stores.open()
            stores.clock.advance(by: 30 * 3_600)
            try await stores.accept(.update())
            try await stores.sendOne()
            stores.clock.advance(by: 48 * 3_600 - 1)
            #expect(try await !isClosed(stores))
            stores.clock.advance(by: 1)
            #expect(try await isClosed(stores))
            #expect(try await stores.channel().state == .retiring)
            let entries = try await stores.auditLog.entries(where: AuditFilter(action: .eventExpired), PageRequest())
            #expect(entries.items.map(\.reason) == ["it has no endsAt, and no message came for 48 hours"])
        }
    }

    @Test func `an event that has not begun, opens later or has a scheduled message is not quiet`()
        async throws
    {
        try await withStores { stores in
            let later = stores.now.addingTimeInterval(90 * 3_600)
            try await stores.put(.sample("future", startsAt: later))
            try await stores.put(.sample("opening", channelsOpenAt: later))
            try await stores.open("planned")
            try await stores.accept(.update(sendAt: later), for: "planned")
            stores.clock.advance(by: 60 * 3_600)
            for key in ["future", "opening", "planned"] { #expect(try await !isClosed(stores, key)) }
            stores.clock.advance(by: 30 * 3_600)
            while try await stores.outbox.promote(now: stores.now, limit: 10, plan: Stores.plan) > 0 {}
            try await stores.sendOne()
            // The time when a message is sent counts, not the time of its acceptance.
            stores.clock.advance(by: 48 * 3_600 - 1)
            for key in ["future", "opening", "planned"] { #expect(try await !isClosed(stores, key)) }
            stores.clock.advance(by: 1)
            for key in ["future", "opening", "planned"] { #expect(try await isClosed(stores, key)) }
        }
    }

    @Test func `an expired event opens again when its end is moved, with the channel that still exists`()
        async throws
    {
        try await withStores { stores in
            let key = try await stores.put(.sample(endsAt: stores.now.addingTimeInterval(3_600))).specification.key
            try await stores.provision()
            let channel = try await stores.channel()
            stores.clock.advance(by: 20 * 3_600)
            #expect(try await isClosed(stores))
            #expect(try await stores.channel().state == .retiring)
            // A declaration with an end in the past is refused, and the refusal says what to do.
            do {
                try await stores.put(.sample(endsAt: stores.now))
                Issue.record("nothing was refused")
            } catch let problem as Problem {
                #expect(problem.kind == .eventEnded)
                #expect(problem.detail.contains("endsAt in the future"))
            }
            let event = try await stores.put(.sample(endsAt: stores.now.addingTimeInterval(7_200)))
            #expect(event.state != .ended)
            #expect(event.channels.map(\.state) == [.active])
            try await stores.align()
            #expect(try await stores.channel().id == channel.id)
            let lookup = try await stores.events.lookup(
                topic: "com.example.goal", in: .production, key, contentState: false, now: stores.now)
            #expect(lookup?.channelID == channel.channelID)
            try await stores.accept(.update())
            #expect(try await stores.sendOne().message.channelID == channel.channelID)
        }
    }

    @Test func `an expired event that opens again gets a new channel, except audiences with their own end`()
        async throws
    {
        try await withStores { stores in
            let other = try Audience.sample("com.example.Other")
            try await stores.put(
                .sample(endsAt: stores.now.addingTimeInterval(3_600), audiences: [.sample(), other]))
            try await stores.provision()
            try await stores.accept(.end(audiences: [other.id]))
            try await stores.sendOne()
            stores.clock.advance(by: 20 * 3_600)
            #expect(try await isClosed(stores))
            let old = try await stores.channel()
            stores.clock.advance(by: 20 * 3_600)
            try await stores.provision()
            #expect(try await stores.channel().state == .deleted)
            try await stores.put(
                .sample(endsAt: stores.now.addingTimeInterval(3_600), audiences: [.sample(), other]))
            try await stores.provision()
            let new = try await stores.channel()
            #expect(new.state == .active)
            #expect(new.id != old.id)
            try await stores.accept(.update())
            #expect(try await stores.sendOne().message.channelID == new.channelID)
            #expect(
                try await problem { try await stores.accept(.update(audiences: [other.id])) } == .eventEnded)
        }
    }

    @Test func `an event that was ended or cancelled by its organiser stays over`() async throws {
        try await withStores { stores in
            try await stores.open("ended")
            try await stores.accept(.end(), for: "ended")
            try await stores.open("cancelled")
            try await stores.events.cancel(.sample("cancelled"), now: stores.now)
            for key in ["ended", "cancelled"] {
                let kind = try await problem {
                    try await stores.put(.sample(key, endsAt: stores.now.addingTimeInterval(3_600)))
                }
                #expect(kind == .eventEnded)
            }
        }
    }
}
