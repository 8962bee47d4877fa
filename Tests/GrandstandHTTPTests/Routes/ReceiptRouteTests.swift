internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandHTTP

/// Activities and receipts from apps, and the reports for organisers.
struct ReceiptRouteTests {
    private static let path =
        "/v1/apps/com.example.Stadium/production/installations/8a2f3c1b-0000-4000-8000-000000000001"
    private static let secret = ["Grandstand-Installation-Secret": String(repeating: "s", count: 43)]

    private static func call(
        _ world: RouteWorld, _ method: String, _ path: String, _ body: String
    ) async throws -> RouteWorld.Answer {
        try await world(method, path, Array(body.utf8), headers: secret, as: "gs_device")
    }

    @Test func `an activity is read together with whether the installation is in the sample`() async throws {
        var world = RouteWorld()
        let seen = Mutex<[DeviceActivity]>([])
        world.installations.report = { activity, isSampled in
            #expect(isSampled)
            return seen.withLock { seen in
                seen.append(activity)
                return seen.count == 1
            }
        }
        let body = """
            {"eventKey": "derby", "attributesType": "M", "state": "active", "updateToken": "80AB", "channelId": "c"}
            """
        #expect(try await Self.call(world, "PUT", Self.path + "/activities/x-1", body).status == 201)
        #expect(try await Self.call(world, "PUT", Self.path + "/activities/x-1", body).status == 200)
        let key = try #require(EventKey(rawValue: "derby"))
        #expect(
            seen.withLock { $0.first }
                == DeviceActivity(
                    id: "x-1", eventKey: key, attributesType: "M", state: .active,
                    updateToken: DeviceToken(hex: "80ab"), channelID: "c"))
    }

    @Test(arguments: [
        (#"{"attributesType": "M", "state": "active"}"#, "/eventKey"),
        (#"{"eventKey": "d", "state": "active"}"#, "/attributesType"),
        (#"{"eventKey": "d", "attributesType": "M"}"#, "/state"),
        (#"{"eventKey": "d", "attributesType": "M", "state": "shown"}"#, "/state"),
        (#"{"eventKey": "d", "attributesType": "M", "state": "active", "updateToken": "x"}"#, "/updateToken"),
    ])
    func `each fault of an activity names its field`(body: String, pointer: String) async throws {
        let answer = try await Self.call(RouteWorld(), "PUT", Self.path + "/activities/x", body)
        #expect(answer.status == 422)
        #expect(answer.pointers == [pointer])
    }

    @Test func `an activity ID with other than the allowed characters is refused`() async throws {
        let answer = try await Self.call(RouteWorld(), "PUT", Self.path + "/activities/a%20b", "{}")
        #expect(answer.status == 422)
        #expect(answer.pointers == ["activityId"])
    }

    @Test
    func
        `receipts are corrected by the sender's clock, and those of an installation outside the sample are ignored`()
        async throws
    {
        var world = RouteWorld()
        let seen = Mutex<[ReceiptBatch]>([])
        world.receipts.take = { batch in
            seen.withLock { $0.append(batch) }
            return min(1, batch.items.count)
        }
        let sentAt = RFC3339.text(RouteWorld.now.addingTimeInterval(30))
        let body = """
            {"sentAt": "\(sentAt)", "items": [
                {"eventKey": "derby", "timestamp": 5, "shownAt": "\(sentAt)"},
                {"eventKey": "none", "timestamp": 5, "shownAt": "\(sentAt)"}]}
            """
        let answer = try await Self.call(world, "POST", Self.path + "/receipts", body)
        #expect(answer.status == 200)
        #expect(answer.json["recorded"] as? Int == 1)
        #expect(answer.json["ignored"] as? Int == 1)
        world.sampling = ReceiptSampling(share: 0)
        let ignored = try await Self.call(world, "POST", Self.path + "/receipts", body)
        #expect(ignored.json["ignored"] as? Int == 2)
        let batches = seen.withLock { $0 }
        #expect(batches[0].clockAhead == 30)
        #expect(batches[0].shownAt(batches[0].items[0]) == RouteWorld.now)
        #expect(batches[1].items.isEmpty)
    }

    @Test(arguments: [
        (#"{}"#, "/items"), (#"{"items": []}"#, "/items"), (#"{"items": [{}]}"#, "/items/0/eventKey"),
        (#"{"items": [{"eventKey": "d", "timestamp": 1, "shownAt": "noon"}]}"#, "/items/0/shownAt"),
        (#"{"items": [{"eventKey": "d", "timestamp": "1", "shownAt": "2026-11-21T20:45:00Z"}]}"#, "/items/0/timestamp"),
    ])
    func `each fault of a receipt names its field`(body: String, pointer: String) async throws {
        let answer = try await Self.call(RouteWorld(), "POST", Self.path + "/receipts", body)
        #expect(answer.status == 422)
        #expect(answer.pointers.first == pointer)
    }

    @Test func `the receipt report states how many installations are in the sample`() async throws {
        var world = RouteWorld()
        let app = AppEnvironment(
            bundleID: try #require(BundleID(rawValue: "com.example.Stadium")), environment: .production)
        world.receipts.tell = { _ in
            [
                (
                    app,
                    ReceiptReport(
                        sample: 9,
                        sent: [
                            .init(
                                broadcast: UUID(), timestamp: 5, acceptedAt: RouteWorld.now, isAccepted: true)
                        ],
                        tallies: [
                            .init(
                                timestamp: 5, shownAt: RouteWorld.now.addingTimeInterval(0.84), isClockKnown: true,
                                count: 4)
                        ])
                )
            ]
        }
        let answer = try await world("GET", "/v1/events/derby/receipts", as: "gs_organise")
        #expect(answer.status == 200)
        let audience = try #require((answer.json["audiences"] as? [[String: Any]])?.first)
        #expect(audience["sample"] as? Int == 9)
        let newest = try #require(audience["newest"] as? [String: Any])
        #expect(newest["shown"] as? Int == 4)
        #expect((newest["seconds"] as? [String: Double])?["p95"] == 0.8)
        #expect(try await world("GET", "/v1/events/derby/receipts", as: "gs_lookup").slug == "forbidden")
    }
}
