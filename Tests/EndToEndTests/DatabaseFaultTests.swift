internal import Foundation
internal import GrandstandTestKit
internal import Postgres
internal import Testing

/// A database that cannot do its work: 503 says what is wrong and what to do, and the server goes on once the database
/// works again.
@Suite(.timeLimit(.minutes(20)))
struct DatabaseFaultTests {
    private static let update = #"{"event": "update", "contentState": {"n": 1}}"#

    @Test func `on a full disk requests are refused with that reason, and accepted messages are sent later`()
        async throws
    {
        try await Stage.place { environment, simulator in
            let pool = Stage.pool(environment)
            try await Stage.serve(environment, simulator: simulator) { stage in
                try await stage.putLiveEvent()
                try await pool.withConnection { connection in
                    try await connection.script(
                        """
                        create function full_disk() returns trigger language plpgsql as $$
                        begin raise exception 'could not extend file "base/1/2"' using errcode = 'disk_full'; end $$;
                        create trigger full_disk before update on deliveries execute function full_disk();
                        """)
                }
                // It is accepted, but there is no room for the lease of its lane.
                let id = try await stage.broadcast(Self.update)
                try await pool.query(
                    "create trigger full_disk before insert on broadcasts execute function full_disk()")
                let refused = try await stage.api("POST", "/v1/events/derby/broadcasts", Self.update)
                #expect(refused.status == 503)
                #expect(refused.slug == "store-unavailable")
                #expect(refused.headers["retry-after"] == "10")
                let detail = try #require(refused.json["detail"]?.string)
                #expect(detail.contains("disk is full") && detail.contains("Free or add space"), "\(detail)")
                #expect(!detail.contains("extend file"))
                let ready = try await stage.api("GET", "/readyz")
                #expect(ready.status == 503)
                #expect(ready.json["trouble"]?.string == "disk-full", "\(ready.text)")
                #expect(ready.json["detail"]?.string?.contains("disk is full") == true)
                let numbers = try await MetricsTests.scrape(stage.api)
                #expect(numbers.contains("\ngrandstand_database_trouble{trouble=\"disk-full\"} 1\n"))
                #expect(numbers.contains("\ngrandstand_database_trouble{trouble=\"read-only\"} 0\n"))

                try await pool.query("drop trigger full_disk on broadcasts")
                try await pool.query("drop trigger full_disk on deliveries")
                #expect(try await stage.settled(id).deliveryStates == ["accepted"])
                let next = try await stage.broadcast(Self.update)
                #expect(try await stage.settled(next).deliveryStates == ["accepted"])
            }
            await pool.close()
        }
    }
}
