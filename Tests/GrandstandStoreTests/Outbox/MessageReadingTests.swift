internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandTestKit
internal import JSON
internal import Testing

@testable internal import GrandstandStore

/// What people see of broadcasts: contents, answers and replaced messages; and the preview of a broadcast.
struct MessageReadingTests {
    @Test func `a broadcast is read with its message and the duration of Apple's answer`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let content = #"{"home": 1.50}"#
            var request = BroadcastRequest(
                payload: BroadcastPayload(
                    event: .update, contentState: Array(content.utf8), alert: Array(#"{"title":"Goal"}"#.utf8),
                    staleDate: 1_900_000_000), priority: .immediate, expiresIn: 300)
            request.byVariant = [:]
            let id = try await stores.accept(request).id
            let claimed = try #require(try await stores.claim().first)
            stores.clock.advance(by: 0.041)
            try await stores.settle(claimed, .accepted(APNsReceipt(requestID: nil)))
            let read = try #require(try await stores.outbox.broadcast(id, within: .all))
            #expect(read.request == request)
            #expect(read.answerMilliseconds(of: try #require(read.deliveries.first)) == 41)
            #expect(
                String(decoding: JSONWriter.text(Contract.BroadcastDraft(try #require(read.request))), as: UTF8.self)
                    == #"{"event":"update","contentState":{"home": 1.50},"alert":{"title":"Goal"},"priority":10,"#
                    + #""expiresIn":300,"staleDate":"2030-03-17T17:46:40.000Z"}"#)
            #expect(try await stores.outbox.broadcasts(of: key, PageRequest()).items == [read])
        }
    }

    @Test func `a superseded message names its successor`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let first = try await stores.accept(.update()).id
            stores.clock.advance(by: 1)
            let second = try await stores.accept(.update()).id
            stores.clock.advance(by: 1)
            let third = try await stores.accept(.update()).id
            let all = try await stores.outbox.broadcasts(of: key, PageRequest()).items
            #expect(all.map(\.id) == [third, second, first])
            #expect(all.map { $0.deliveries.first?.supersededBy } == [nil, third, second])
            // The successor is also named if it is on another page.
            let part = try await stores.outbox.broadcasts(of: key, PageRequest(limit: 1)).nextCursor
            let next = try await stores.outbox.broadcasts(of: key, PageRequest(limit: 1, cursor: part)).items
            #expect(next.first?.deliveries.first?.supersededBy == third)
        }
    }

    @Test func `a preview shows what would be sent and superseded, and changes nothing`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let waiting = try await stores.accept(.update()).id
            let before = try await stores.outbox.broadcasts(of: key, PageRequest()).items
            let intake = BroadcastIntake(eventKey: key, request: .update())
            let rehearsal = try await stores.outbox.rehearse(intake, now: stores.now, plan: Stores.plan)
            let part = try #require(rehearsal.parts.first)
            #expect(rehearsal.parts.count == 1)
            #expect(part.replaces == [waiting])
            #expect(part.bytes == part.payload.body(timestamp: Int(stores.now.timeIntervalSince1970)).count)
            #expect(!rehearsal.isScheduled)
            #expect(try await stores.outbox.broadcasts(of: key, PageRequest()).items == before)

            // The preview of an end does not end the event.
            let end = BroadcastIntake(
                eventKey: key, request: BroadcastRequest(payload: BroadcastPayload(event: .end)))
            #expect(try await stores.outbox.rehearse(end, now: stores.now, plan: Stores.plan).event == .end)
            try await stores.accept(.update())
        }
    }

    @Test func `a preview is refused as the broadcast would be`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let long = BroadcastRequest(
                payload: BroadcastPayload(
                    event: .update, contentState: Array(#"{"a": "\#(String(repeating: "a", count: 6_000))"}"#.utf8)))
            for (request, key, kind) in [
                (long, key, Problem.Kind.payloadTooLarge), (.update(), try .sample("other"), .eventNotFound),
            ] {
                let found = try await problem {
                    try await stores.outbox.rehearse(
                        BroadcastIntake(eventKey: key, request: request), now: stores.now, plan: Stores.plan)
                }
                #expect(found == kind)
            }
        }
    }

    @Test func `scheduled broadcasts are paged in the order of their times`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            var wanted: [UUID] = []
            for delay in [300.0, 100, 200] {
                var request = BroadcastRequest.update()
                request.sendAt = stores.now + delay
                wanted.append(try await stores.accept(request).id)
            }
            wanted = [wanted[1], wanted[2], wanted[0]]
            try await stores.accept(.update())
            let first = try await stores.outbox.scheduled(of: key, within: .all, PageRequest(limit: 2))
            let cursor = try #require(first.nextCursor)
            let rest = try await stores.outbox.scheduled(of: key, within: .all, PageRequest(limit: 2, cursor: cursor))
            #expect((first.items + rest.items).map(\.id) == wanted)
            #expect(rest.nextCursor == nil)
            let other = try #require(BundleID(rawValue: "com.example.Other"))
            #expect(
                try await stores.outbox.scheduled(of: key, within: .only([other]), PageRequest(limit: 2)).items.isEmpty)
        }
    }

    @Test func `an event's broadcasts are paged newest first, each once, even with equal times`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            try await stores.open("other")
            try await stores.accept(.update(), for: "other")
            var accepted: [UUID] = []
            for step in [0, 0, 0.001, 0, 1] {
                stores.clock.advance(by: step)
                accepted.append(try await stores.accept(.update()).id)
            }
            var seen: [Broadcast] = []
            var cursor: String?
            var sizes: [Int] = []
            repeat {
                let page = try await stores.outbox.broadcasts(of: key, PageRequest(limit: 2, cursor: cursor))
                seen += page.items
                sizes.append(page.items.count)
                cursor = page.nextCursor
            } while cursor != nil
            #expect(sizes == [2, 2, 1])
            #expect(Set(seen.map(\.id)) == Set(accepted))
            #expect(seen.map(\.acceptedAt) == seen.map(\.acceptedAt).sorted(by: >))
            #expect(seen.allSatisfy { $0.deliveries.count == 1 })
        }
    }

    @Test func `broadcasts of one batch are in its order`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            let accepted = try await stores.accept(Array(repeating: .update(), count: 20))
            let listed = try await stores.outbox.broadcasts(of: key, PageRequest(limit: 20)).items
            #expect(listed.map(\.id) == (try accepted.reversed().map { try $0.get().id }))
            #expect(listed.last?.acceptedAt == stores.now)
        }
    }

    @Test func `a cursor of another list is refused`() async throws {
        try await withStores { stores in
            let key = try await stores.open()
            for cursor in ["x", "MTIzIHg=", ""] {
                let kind = try await problem {
                    try await stores.outbox.broadcasts(of: key, PageRequest(limit: 2, cursor: cursor))
                }
                #expect(kind == .invalidRequest)
            }
        }
    }
}
