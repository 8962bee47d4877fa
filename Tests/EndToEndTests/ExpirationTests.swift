internal import APNsSimulator
internal import APNsWire
internal import Foundation
internal import Testing

/// What `apns-expiration` each storage policy gets, and what is refused before anything is queued.
@Suite(.timeLimit(.minutes(5)))
struct ExpirationTests {
    @Test func `each channel gets the expiration its policy allows`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent(
                "derby",
                [Stage.audience(.development, .noMessageStored), Stage.audience(.production, .mostRecentMessageStored)])
            let now = Int(Date().timeIntervalSince1970)
            let soon = now + 600
            /// The fields of the request, and the range of expirations that the channel with a stored message may get.
            let cases: [(fields: String, stored: ClosedRange<Int>)] = [
                ("", now + 28_800...now + 28_830),
                (#", "expiresIn": 60"#, now + 60...now + 90),
                (#", "expiresIn": 28800"#, now + 28_800...now + 28_830),
                (#", "apnsExpiration": 0"#, 0...0),
            ]
            for (index, (fields, stored)) in cases.enumerated() {
                let id = try await stage.broadcast(#"{"event": "update", "contentState": {"n": \#(index)}\#(fields)}"#)
                #expect(try await stage.settled(id).deliveryStates == ["accepted", "accepted"])
                let pair = try await stage.sent(2 * index + 2).suffix(2)
                for request in pair {
                    let expiration = try #require(request[header: "apns-expiration"].flatMap { Int($0) })
                    #expect((request.environment == .development ? 0...0 : stored).contains(expiration), "\(fields)")
                }
            }

            // A channel that stores messages may get a time as its expiration. If no other channel is addressed, the
            // time is sent unchanged.
            let id = try await stage.broadcast(
                """
                {"event": "update", "contentState": {}, "apnsExpiration": \(soon),
                 "audiences": [{"bundleId": "\(Stage.bundleID)", "environment": "production"}]}
                """)
            #expect(try await stage.settled(id).deliveryStates == ["accepted"])
            #expect(try await stage.sent(9).last?[header: "apns-expiration"] == String(soon))
        }
    }

    @Test func `a header the policy does not allow is refused and nothing is queued`() async throws {
        try await Stage.with { stage in
            try await stage.putLiveEvent(
                "derby",
                [Stage.audience(.development, .noMessageStored), Stage.audience(.production, .mostRecentMessageStored)])
            let now = Int(Date().timeIntervalSince1970)
            let onlyStoring = #", "audiences": [{"bundleId": "\#(Stage.bundleID)", "environment": "production"}]"#
            let refused = [
                // The expiration is not 0, but one of the channels stores nothing.
                #""apnsExpiration": \#(now + 600)"#,
                // The first expiration is more than 8 hours ahead, the second is in the past.
                #""apnsExpiration": \#(now + 30_000)\#(onlyStoring)"#,
                #""apnsExpiration": \#(now - 1)\#(onlyStoring)"#,
            ]
            for fields in refused {
                let answer = try await stage.api(
                    "POST", "/v1/events/derby/broadcasts", #"{"event": "update", "contentState": {}, \#(fields)}"#)
                #expect(answer.status == 422, "\(fields)")
                #expect(answer.slug == "expiration-not-allowed")
                #expect(answer.pointers == ["/apnsExpiration"])
            }
            #expect(try await stage.api("GET", "/v1/events/derby/broadcasts").json["items"]?.items == [])
            #expect(stage.simulator.journal().count { $0.request.isBroadcast } == 0)
        }
    }
}
