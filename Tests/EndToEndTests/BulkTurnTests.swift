internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// Calls with many broadcasts wait for their turn before they take a connection, so single broadcasts always find one.
@Suite(.timeLimit(.minutes(20)))
struct BulkTurnTests {
    @Test func `twelve blocked bulk calls do not delay another event's broadcasts, with or without an idempotency key`()
        async throws
    {
        try await Stage.place { environment, simulator in
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putApp()
                for key in ["derby", "final"] {
                    try await stage.putEvent(key)
                    try await stage.activeChannels(of: key)
                }
                let pool = Stage.pool(environment)
                let items = (0..<500).map {
                    #"{"eventKey": "final", "event": "update", "contentState": {"n": \#($0)}}"#
                }
                let body = #"{"items": [\#(items.joined(separator: ","))]}"#
                let (held, holding) = AsyncStream.makeStream(of: Void.self)
                let (over, ending) = AsyncStream.makeStream(of: Void.self)
                async let holder: Void = pool.transaction { connection in
                    try await connection.query("select from events where key = 'final' for update")
                    holding.finish()
                    for await _ in over {}
                }
                for await _ in held {}
                let calls = Task {
                    try await concurrently(12) { n in
                        let headers = n.isMultiple(of: 3) ? [:] : ["Idempotency-Key": "bulk-\(n)"]
                        // A call that has waited for half a minute gets 503, so it is repeated.
                        return try await until("it is answered with anything but 503", within: .seconds(120)) {
                            let answer = try await stage.api("POST", "/v1/broadcasts", body, headers: headers)
                            return answer.status == 503 ? nil : answer.status
                        }
                    }
                }
                _ = try await until("one of them waits for the event") {
                    try await pool.query(
                        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
                    ).isEmpty ? nil : true
                }
                // If the waiting calls held connections, too few connections would be left, and these forty calls would
                // be delayed or refused.
                for n in 0..<40 {
                    let headers = n.isMultiple(of: 2) ? [:] : ["Idempotency-Key": "goal-\(n)"]
                    let goal = try await stage.api(
                        "POST", "/v1/events/derby/broadcasts", #"{"event": "update", "contentState": {"n": \#(n)}}"#,
                        headers: headers)
                    #expect(goal.status == 202, "\(goal.text)")
                }
                // Two connections remain in use: the connection of the call whose turn it is, and the connection of the
                // transaction that this call waits for. The connections of single broadcasts become free by themselves.
                _ = try await until("nobody else keeps a connection") {
                    try await pool.query(
                        """
                        select from pg_stat_activity where datname = current_database()
                            and (wait_event_type = 'Lock' or state = 'idle in transaction')
                        """
                    ).count == 2 ? true : nil
                }
                ending.finish()
                try await holder
                #expect(try await calls.value == Array(repeating: 202, count: 12))
                await pool.close()
            }
        }
    }
}
