internal import APNsWire
internal import Grandstand
internal import GrandstandTestKit
internal import Testing

@testable internal import GrandstandServer

/// Which key may see which page. The browser check opens every page, and the lists with a key of one app.
@Suite(.database)
struct PageAccessTests {
    private static let place = "/console/apps/com.example.Stadium/production"
    private static let id = "11111111-2222-4333-8444-555555555555"
    private static let operating = [
        "/console/apps", "/console/apps/com.example.Stadium", place + "/channels", place + "/channels/\(id)/delete",
        place + "/reconciliations", place + "/reconciliations/" + id, place + "/reconciliations/run/recreate",
        "/console/audit-log",
    ]
    private static let organising = [
        "/console/events", "/console/events/derby", "/console/events/derby/cancel", "/console/events/derby/reopen",
        "/console/events/derby/start", "/console/declare",
    ]

    @Test(arguments: [
        ("operate", operating), ("organise", organising), ("admin", ["/console/keys", "/console/keys/1"]),
    ])
    func `a page is refused to a key without its scope before any call`(scope: String, paths: [String]) async throws {
        for path in paths {
            for secret in ["operate", "organise", "lookup"] where secret != scope {
                let answer = try await ConsoleWorld().get(path, as: secret)
                #expect(answer.status == 403, "\(path) with \(secret)")
                #expect(answer.body.contains("needs a key with the scope \(scope); the key test holds \(secret)"))
            }
        }
    }

    @Test func `the overview is for operators, and organisers are sent to their events`() async throws {
        #expect(try await ConsoleWorld().get("/console", as: "organise").location == "/console/events")
        let nothing = try await ConsoleWorld().get("/console", as: "lookup")
        #expect(nothing.status == 403 && nothing.body.contains("operate or organise"))
    }

    @Test(arguments: [
        "/console/apps/com.example.Other", "/console/apps/com.example.other/production/channels",
        "/console/apps/com.example.Other/development/reconciliations",
        "/console/apps/com.example.Other/development/reconciliations/\(id)",
        "/console/events?bundleId=com.example.Other", "/console/audit-log?bundleId=com.example.Other",
    ])
    func `pages of another app are refused before any call`(path: String) async throws {
        let answer = try await ConsoleWorld().get(path, as: "operate-organise@")
        #expect(answer.status == 403)
        #expect(answer.body.contains("com.example.Stadium only"))
    }

    @Test(arguments: ["", "/cancel", "/reopen", "/start"])
    func `a key of one app sees nothing of an event in which another app takes part`(page: String) async throws {
        let world = ConsoleWorld()
        try await world.rows.put(
            .sample("derby", audiences: [.sample("com.example.Stadium"), .sample("com.example.Other")]))
        let answer = try await world.get("/console/events/derby" + page, as: "organise@")
        #expect(answer.status == 404)
        #expect(!answer.body.contains("com.example.Other"))
    }
}
