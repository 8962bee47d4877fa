internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import GrandstandTestKit
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

struct AcceptTests {
    @Test func `a message is accepted, claimed, settled and read, and answers match the database`() async throws {
        try await withEvent { stores in
            var request = BroadcastRequest.update(
                #"{"home": 1.50}"#, alert: #"{"title":"Goal"}"#, priority: .immediate, expiresIn: 300)
            request.payload.staleDate = 1_900_000_000
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
            #expect(delivery.apnsRequestId == claimed.message.requestID.words)
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

    @Test
    func `an unknown event, an unknown audience and a message that is too large are refused one by one`()
        async throws
    {
        try await withEvent { stores in
            let stranger = try Audience.sample("com.example.Other").id
            let long = #"{"text":""# + String(repeating: "x", count: 5_120) + #""}"#
            let items: [(String, BroadcastRequest)] = [
                ("nothing", .update()), ("match-1", .update(audiences: [stranger])), ("match-1", .update()),
                ("match-1", .update(long)),
            ]
            let results = try await stores.accept(
                try items.map { Intake(eventKey: try .sample($0), request: $1) })
            #expect(results.map { $0.failure?.kind } == [.eventNotFound, .invalidRequest, nil, .payloadTooLarge])
            #expect(try await stores.rows("broadcasts") == 1)
            #expect(try await stores.rows("deliveries") == 1)
        }
    }

    @Test func `a batch may name an event twice, and nothing follows an end`() async throws {
        try await withStores { stores in
            for key in ["b", "a"] { try await stores.open(key) }
            let items: [(key: String, request: BroadcastRequest)] = [
                ("b", .update(#"{"n":1}"#)), ("a", .update(#"{"n":2}"#)), ("b", .update(#"{"n":3}"#)),
                ("b", .end(#"{"n":4}"#)), ("b", .update(#"{"n":5}"#)),
            ]
            let results = try await stores.accept(
                try items.map { Intake(eventKey: try .sample($0.key), request: $0.request) })
            #expect(results.map { $0.failure?.kind } == [nil, nil, nil, nil, .eventEnded])
            let accepted = try results.prefix(4).map { try $0.get() }
            #expect(accepted.map(\.eventKey) == ["b", "a", "b", "b"])
            let states = try await accepted.asyncMap { try await stores.state(of: $0) }
            #expect(states == [.superseded, .queued, .superseded, .queued])
            let sent = try await stores.claim().map(\.text)
            #expect(sent.count == 2)
            for text in [#"{"n":2}"#, #"{"n":4}"#] { #expect(sent.contains { $0.contains(text) }) }
        }
    }

    @Test func `a message to all names the audiences that had their end, and every warning is stored`() async throws {
        try await withStores { stores in
            let (over, live) = (try Audience.sample("com.example.Over"), try Audience.sample("com.example.Live"))
            try await stores.open(audiences: [over, live])
            try await stores.accept(.end(audiences: [over.id]))
            let large = #"{"text":""# + String(repeating: "x", count: 4_100) + #""}"#
            let accepted = try await stores.accept(.update(large))
            #expect(accepted.deliveries.map(\.bundleId) == [live.bundleID.rawValue])
            #expect(accepted.warnings.count == 2)
            #expect(accepted.warnings.last?.contains("com.example.Over in production") == true)
            #expect(try await stores.read(accepted)?.warnings == accepted.warnings)
            #expect(try await stores.accept(.update(audiences: [live.id])).warnings == [])
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
