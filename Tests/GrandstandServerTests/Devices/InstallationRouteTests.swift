internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import HTTPTypes
internal import JSON
internal import Synchronization
internal import Testing

@testable internal import GrandstandServer

/// The reports of phones, and the reports that are refused before the store is called.
struct InstallationRouteTests {
    private static let id = "8a2f3c1b-0000-4000-8000-000000000001"
    private static let path = "/v1/apps/com.example.Stadium/production/installations/\(id)"
    private static let secret = ["Grandstand-Installation-Secret": String(repeating: "s", count: 43)]

    private static func call(
        _ world: RouteWorld, _ method: String, _ path: String = path, _ body: String? = nil,
        headers: [String: String] = secret, as key: String? = "gs_device"
    ) async throws -> RouteWorld.Answer {
        try await world(method, path, body.map { Array($0.utf8) }, headers: headers, as: key)
    }

    @Test func `a registration is read completely, and gets 201 if new`() async throws {
        var world = RouteWorld()
        let seen = Mutex<[InstallationState]>([])
        world.installations.save = { state, id, secret in
            #expect(id.id.uuidString.lowercased() == Self.id)
            #expect(secret.count == 43)
            return seen.withLock { seen in
                seen.append(state)
                return seen.count == 1
            }
        }
        let body = """
            {"sequence": 12, "systemVersion": "18.4", "appVersion": "5.2", "locale": "de-AT", "variant": "home",
             "timeZone": "Europe/Vienna", "liveActivitiesEnabled": false, "frequentPushesEnabled": false,
             "startTokens": [{"attributesType": "MatchAttributes", "token": "80AB"}],
             "topics": ["team:rapid", "league:at1", "team:rapid"]}
            """
        let first = try await Self.call(world, "PUT", Self.path, body)
        #expect(first.status == 201)
        let second = try await Self.call(world, "PUT", Self.path, #"{"systemVersion": "17"}"#)
        #expect(second.status == 200)
        let states = seen.withLock { $0 }
        #expect(
            states[0]
                == InstallationState(
                    sequence: 12, systemVersion: SystemVersion(18, 4), appVersion: "5.2", locale: "de-AT",
                    variant: Variant(rawValue: "home"), timeZone: "Europe/Vienna", liveActivitiesEnabled: false,
                    frequentPushesEnabled: false,
                    startTokens: ["MatchAttributes": try #require(DeviceToken(hex: "80ab"))],
                    topics: Set(["team:rapid", "league:at1"].compactMap(Topic.init))))
        #expect(states[1] == InstallationState(systemVersion: SystemVersion(17)))
    }

    private static func list(_ element: String, _ count: Int) -> String {
        "[\(Array(repeating: element, count: count).joined(separator: ","))]"
    }

    /// A device token must not get into logs of answers.
    @Test func `two tokens of one type are refused with their place, and no token is repeated`() async throws {
        let token = #"{"attributesType": "M", "token": "0000000000"}"#
        let body = #"{"systemVersion": "18", "startTokens": \#(Self.list(token, 2))}"#
        let answer = try await Self.call(RouteWorld(), "PUT", Self.path, body)
        #expect(answer.status == 422 && answer.pointers == ["/startTokens/1/attributesType"])
        #expect(!answer.text.contains("0000000000"))
    }

    @Test(arguments: [
        (String(path.dropLast(36)) + "mine", "installationId"), (path + "/activities/a%20b", "activityId"),
    ])
    func `a path that names no installation or activity is refused`(path: String, pointer: String) async throws {
        #expect(try await Self.call(RouteWorld(), "PUT", path, "{}").pointers == [pointer])
    }

    @Test func `a million topics are refused before they are read`() async throws {
        let body = #"{"systemVersion": "18", "topics": \#(Self.list(#""t""#, 1_000_000))}"#
        let answer = try await Self.call(RouteWorld(), "PUT", Self.path, body)
        #expect(answer.status == 413)
    }

    @Test(arguments: [
        nil, "", "short", String(repeating: "s", count: 42), String(repeating: "s", count: 129),
        String(repeating: "s", count: 42) + "+",
    ])
    func `without a possible secret no store is called`(secret: String?) async throws {
        let headers = secret.map { ["Grandstand-Installation-Secret": $0] } ?? [:]
        for operation in Contract.Operation.all where operation.scopes == [.device] {
            let answer = try await Self.call(
                RouteWorld(), operation.method, operation.sample, "{}", headers: headers)
            #expect(answer.status == 422, "\(operation.id)")
            #expect(answer.pointers == ["Grandstand-Installation-Secret"])
        }
    }

    @Test func `of a thousand wrong secrets ten are checked, and no other phone waits`()
        async throws
    {
        var world = RouteWorld()
        let right = ["Grandstand-Installation-Secret": String(repeating: "r", count: 43)]
        world.installations.find = { _, secret in
            guard right.values.contains(secret) else { throw Problem.wrongInstallationSecret }
            return KnownInstallation(state: InstallationState(systemVersion: SystemVersion(18)))
        }
        var slugs: [String: Int] = [:]
        for _ in 0..<1_000 {
            let answer = try await Self.call(world, "GET")
            slugs[answer.slug ?? "none", default: 0] += 1
            if answer.slug == "rate-limited" { #expect(answer.headers[.retryAfter] != nil) }
        }
        #expect(slugs == ["wrong-installation-secret": 10, "rate-limited": 990])
        let other = String(Self.path.dropLast()) + "2"
        for path in [Self.path, other] {
            #expect(try await Self.call(world, "GET", path, headers: right).status == 200)
        }
        #expect(try await Self.call(world, "GET", other).slug == "wrong-installation-secret")
    }

    @Test func `beyond the limit of new installations per address only known ones are accepted`() async throws {
        var world = RouteWorld()
        world.limits = RateLimits(.init(requests: nil, failures: nil, installations: 3))
        let known = Mutex<Set<UUID>>([])
        world.installations.save = { _, id, _ in known.withLock { $0.insert(id.id).inserted } }
        world.installations.find = { id, _ in
            guard known.withLock({ $0.contains(id.id) }) else { throw Problem(.installationNotFound, "none") }
            return KnownInstallation(state: InstallationState(systemVersion: SystemVersion(18)))
        }
        let paths = (1...5).map { String(Self.path.dropLast()) + "\($0)" }
        let body = #"{"systemVersion": "18"}"#
        var statuses: [Int] = []
        for path in paths { statuses.append(try await Self.call(world, "PUT", path, body).status) }
        #expect(statuses == [201, 201, 201, 429, 429])
        let refused = try await Self.call(world, "PUT", paths[3], body)
        #expect(refused.slug == "rate-limited" && refused.headers[.retryAfter] != nil)
        #expect(known.withLock { $0.count } == 3)
        #expect(try await Self.call(world, "PUT", paths[0], body).status == 200)
    }

    @Test func `the app may read an installation, with the last digits of its tokens`() async throws {
        var world = RouteWorld()
        let token = try #require(DeviceToken(hex: "80abcdef0123456789"))
        let key = try #require(EventKey(rawValue: "derby"))
        world.installations.find = { _, _ in
            KnownInstallation(
                state: InstallationState(
                    sequence: 3, systemVersion: SystemVersion(18, 4), startTokens: ["M": token],
                    topics: Set(["b", "a"].compactMap(Topic.init))),
                suspectTypes: ["M"],
                activities: [
                    DeviceActivity(id: "x", eventKey: key, attributesType: "M", state: .stale, updateToken: token)
                ])
        }
        let answer = try await Self.call(world, "GET")
        #expect(answer.status == 200)
        #expect(answer.text.contains("…456789"))
        #expect(!answer.text.contains(token.hex))
        #expect(answer.json["topics"] as? [String] == ["a", "b"])
        #expect(answer.json["systemVersion"] as? String == "18.4")
        #expect((answer.json["startTokens"] as? [[String: Any]])?.first?["suspect"] as? Bool == true)
        #expect((answer.json["activities"] as? [[String: Any]])?.first?["state"] as? String == "stale")
    }

    // MARK: Activities
}
