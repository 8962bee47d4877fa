internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct AcceptTests {
    @Test func `a message is accepted, claimed, settled and read, and answers match the database`() async throws {
        try await withEvent { stores in
            var request = Contract.BroadcastDraft.update(
                #"{"home": 1.50}"#, alert: #"{"title":"Goal"}"#, priority: .immediate, expiresIn: 300)
            request.staleDate = Date(timeIntervalSince1970: 1_900_000_000)
            let accepted = try await stores.accept(request)
            #expect(try await stores.read(accepted)?.withoutMessage == accepted)
            #expect(accepted.state == .queued)

            let claimed = try #require(try await stores.claim().first)
            #expect(claimed.message.attempts == 1 && claimed.message.priority == .immediate)
            #expect(claimed.address == (try await stores.channels.address(of: .sample())))
            #expect(claimed.message.channelID == (try await stores.channel().channelID))
            #expect(claimed.message.apnsExpiration == 1_700_000_000 + 300)
            #expect(claimed.message.expiresAt == stores.now + 300)
            #expect(try await stores.state(of: accepted) == .sending)

            stores.clock.advance(by: 0.5)
            try await stores.settle(claimed, .accepted(APNsReceipt(requestID: "r", uniqueID: "u")))
            let read = try #require(try await stores.read(accepted))
            #expect(read.state == .done && read.deliveries.first?.answerMilliseconds == 500)
            #expect(read.message?.contentState?.description == #"{"home": 1.50}"#)
            #expect(read.message?.alert?.description == #"{"title":"Goal"}"#)
            #expect(read.message?.priority == 10 && read.message?.expiresIn == 300)
            #expect(read.message?.staleDate == Date(timeIntervalSince1970: 1_900_000_000))
            #expect(try await stores.outbox.broadcasts(of: .sample(), PageRequest()).items == [read])
            let delivery = try await stores.delivery(of: accepted)
            #expect(delivery.state == .accepted && delivery.apnsUniqueId == "u")
            #expect(delivery.apnsRequestId == claimed.message.requestID.text)
            #expect(delivery.apnsRequestId == accepted.deliveries.first?.apnsRequestId)
            #expect(delivery.timestamp == 1_700_000_000 && delivery.settledAt == stores.now)
            #expect(try await stores.claim().isEmpty)
            #expect(try await stores.outbox.nextDue() == nil)
        }
    }

    @Test func `there is one delivery for each audience in order, or for the selected ones`() async throws {
        try await withStores { stores in
            let audiences = [
                try Audience.sample("com.example.B", .production, .noMessageStored),
                try Audience.sample("com.example.A", .development), try Audience.sample("com.example.A"),
            ]
            // The order of the deliveries does not depend on the age of the lanes.
            try await stores.open(audiences: [audiences[2]])
            try await stores.open(audiences: audiences)
            for (selected, wanted) in [(nil, audiences), ([audiences[1].id], [audiences[1]])]
                as [([Audience.ID]?, [Audience])]
            {
                let accepted = try await stores.accept(.update(audiences: selected))
                #expect(try await stores.read(accepted)?.withoutMessage == accepted)
                #expect(accepted.deliveries.map(\.bundleId) == wanted.map(\.bundleID.rawValue))
                #expect(accepted.deliveries.map(\.environment.rawValue) == wanted.map(\.environment.rawValue))
            }
        }
    }

    @Test func `an end for some audiences closes only these, and the last one ends the event`() async throws {
        try await withTwoApps { stores, audiences in
            let key = try EventKey.sample()
            try await stores.accept(.end(audiences: [audiences[0].id]))
            #expect(try await stores.event(key)?.state == .scheduled)
            let large = #"{"text":""# + String(repeating: "x", count: 4_100) + #""}"#
            let rest = try await stores.accept(.update(large))
            #expect(rest.deliveries.map(\.bundleId) == ["com.example.B"])
            #expect(rest.warnings.count == 2 && rest.warnings[1].contains("com.example.A in production"))
            #expect(try await stores.read(rest)?.warnings == rest.warnings)
            #expect(try await stores.accept(.update(audiences: [audiences[1].id])).warnings == [])
            try await refuses(.eventEnded) { try await stores.accept(.update(audiences: [audiences[0].id])) }
            try await stores.accept(.end())
            #expect(try await stores.event(key)?.state == .ended)
            for request: Contract.BroadcastDraft in [.update(), .end(), .update(sendAt: stores.now + 60)] {
                try await refuses(.eventEnded) { try await stores.accept(request) }
            }
        }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

extension Sequence {
    func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}

/// What people see of broadcasts: contents, answers and replaced messages; and the preview of a broadcast.
struct MessageReadingTests {
    @Test func `a superseded message names its successor, and a preview what it would supersede`() async throws {
        try await withEvent { stores in
            var ids: [String] = []
            for _ in 1...3 {
                ids.append(try await stores.accept(.update()).id)
                stores.clock.advance(by: 1)
            }
            let all = try await stores.outbox.broadcasts(of: .sample(), PageRequest()).items
            #expect(all.map { $0.deliveries.first?.supersededBy } == [nil, ids[2], ids[1]])
            // The successor is also named if it is on another page.
            let cursor = try await stores.outbox.broadcasts(of: .sample(), PageRequest(limit: 1)).nextCursor
            let next = try await stores.outbox.broadcasts(of: .sample(), PageRequest(limit: 1, cursor: cursor)).items
            #expect(next.first?.deliveries.first?.supersededBy == ids[2])

            // The same event, with a preview, which changes nothing.
            let rehearsal = try await stores.rehearse(.update())
            let part = try #require(rehearsal.audiences.first)
            #expect(rehearsal.audiences.count == 1)
            #expect(part.replaces == [ids[2]] && part.bytes == part.payload.bytes.count && !rehearsal.isScheduled)
            #expect(try await stores.outbox.broadcasts(of: .sample(), PageRequest()).items == all)
            // The preview of an end does not end the event.
            #expect(try await stores.rehearse(Contract.BroadcastDraft(event: .end)).event == .end)
            try await stores.accept(.update())
        }
    }
}

struct ContentBytesTests {
    @Test func `content and alert reach the message byte for byte`() async throws {
        let texts = [
            #"{"n":1.50e3}"#, #"{"n":12345678901234567890}"#, #"{"n":-0.0,"m":1E400}"#,
            #"{"ball":"\u26bd","raw":"⚽"}"#, #"{"z":1,"a":2,"m":3}"#, "{ \"a\" :\t[ 1 ,\n 2 ] }",
            #"{"nul":"\u0000","slash":"\/"}"#, "{}", #"{"quote":"'; drop table apps; -- $1"}"#,
        ]
        try await withEvent { stores in
            for text in texts {
                try await stores.accept(.update(text, alert: text))
                let sent = try await stores.sendOne()
                #expect(
                    sent.text == #"{"aps":{"timestamp":\#(try sent.timestamp),"event":"update","content-state":"#
                        + #"\#(text),"alert":\#(text)}}"#)
                #expect(try await stores.lookup()?.contentState?.description == text)
            }
            // The members that describe the state are sent with it, and so is the alert of an earlier message.
            try await stores.accept(.update("{ \"z\":1.50 }", alert: #"{ "title":"\u26bd" }"#))
            var request = Contract.BroadcastDraft.update("{ \"z\":2.50 , \"a\":1}")
            request.staleDate = Date(timeIntervalSince1970: 1_700_000_400)
            request.relevanceScore = RawJSON(unchecked: "1e2".utf8)
            try await stores.accept(request)
            let first = try #require(try await stores.claim().first)
            var refused = first.settled(.retry(at: stores.now + 1, reason: "ServiceUnavailable"), at: stores.now)
            refused.mayHaveBeenProcessed = false
            try await stores.outbox.tryRecord([refused])
            request.alert = RawJSON(unchecked: #"{ "title":"\u26bd" }"#.utf8)
            let sent = try await stores.sendOne()
            #expect(try sent.body == request.payload().body(timestamp: sent.timestamp))
        }
    }
}

/// Batches of broadcasts, and broadcasts to channels without an event.
@Suite(.database)
struct BroadcastRouteTests {
    private static let update = #""event": "update", "contentState": {}"#

    @Test func `a batch is answered in order, and a mistake in one item affects only that item`() async throws {
        let world = RouteWorld()
        for key in ["derby", "cup"] {
            try await world.rows.open(
                key, audiences: [.sample("com.example.Stadium", .production, .noMessageStored)])
        }
        let cases: [(item: String, slug: String?, pointer: String?)] = [
            (#"{"eventKey": "derby", "event": "update", "contentState": {"score": 1.50e1}}"#, nil, nil),
            (#"{"eventKey": "nowhere", \#(Self.update)}"#, "event-not-found", nil),
            (#"{"eventKey": "cup", "event": "update", "contentstate": {}}"#, "unknown-field", "/items/2/contentstate"),
            (#"{"eventKey": "not a key", \#(Self.update)}"#, "invalid-request", "/items/3/eventKey"),
            (
                #"{"eventKey": "cup", \#(Self.update), "apnsExpiration": 1}"#, "expiration-not-allowed",
                "/items/4/apnsExpiration"
            ),
            ("7", "invalid-request", nil),
            (#"{"eventKey": "cup", "event": "update", "contentState": {"n": 1}}"#, nil, nil),
            (#"{"eventKey": "cup", "event": "end", "contentState": {"n": 2}}"#, nil, nil),
            (#"{"eventKey": "cup", \#(Self.update)}"#, "event-ended", nil),
        ]
        let items = cases.map(\.item).joined(separator: ", ")
        let answer = try await world("POST", "/v1/broadcasts", #"{"items": [\#(items)]}"#)
        #expect(answer.status == 202 && answer.items.count == cases.count, "\(answer.text)")
        for (item, (_, slug, pointer)) in zip(answer.items, cases) {
            let problem = item["problem"] as? [String: Any]
            let found = (problem?["type"] as? String)?.split(separator: "/").last.map(String.init)
            #expect(found == slug && (item["id"] is String) == (slug == nil))
            let faults = problem?["errors"] as? [[String: Any]]
            if let pointer { #expect(faults?.first?["pointer"] as? String == pointer) }
        }
        let sent = try await world.rows.claim().map(\.text)
        #expect(sent.count == 2)
        for text in [#"{"score": 1.50e1}"#, #"{"n": 2}"#] { #expect(sent.contains { $0.contains(text) }) }
    }

    @Test func `a channel without an event takes nothing after its end, and an event's takes nothing`() async throws {
        let world = RouteWorld()
        try await world.rows.open("derby", audiences: [.sample("com.example.Stadium")])
        let app = try AppEnvironment(bundleID: .sample("com.example.Stadium"), environment: .production)
        let owned = try #require(try await world.rows.ledger("c.event_key = 'derby'", of: app).last?.id)
        let own = try await world.rows.adopt(of: "com.example.Stadium")
        func post(_ channel: UUID, _ body: String) async throws -> RouteWorld.Answer {
            let channels = "/v1/apps/com.example.Stadium/production/channels"
            return try await world("POST", "\(channels)/\(channel.text)/broadcasts", "{\(body)}")
        }
        #expect(try await post(owned, Self.update).slug == "channel-in-use")
        let end = try #require(try await post(own.id, #""event": "end", "contentState": {}"#).json["id"] as? String)
        #expect(try await post(own.id, Self.update).slug == "event-ended")
        #expect(try await world.rows.outbox.cancel(end, now: world.rows.now) == true)
        for event in ["update", "end"] {
            let answer = try await post(own.id, #""event": "\#(event)", "contentState": {}"#)
            #expect(answer.status == 202 && !(answer.json["eventKey"] is String), "\(answer.text)")
            let sent = try await world.rows.sendOne()
            #expect(sent.message.channelID == own.channelID && sent.text.contains(#""event":"\#(event)""#))
        }
        #expect(try await post(own.id, Self.update).slug == "event-ended")
    }
}
