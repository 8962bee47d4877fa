internal import Foundation
internal import Grandstand
internal import Postgres
internal import Testing

@testable internal import GrandstandServer

/// How long a session lasts, and what ends it.
@Suite(.database)
struct SessionTests {
    /// The sessions in the database: their keys, and when they were last used.
    private static func all(_ world: ConsoleWorld) async throws -> [(key: UUID, usedAt: Date)] {
        try await world.database.query("select key, used_at from console_sessions").map { row in
            (key: try row.decode("key"), usedAt: try row.decode("used_at"))
        }
    }

    @Test func `after sign-out a copy of the cookie is useless`() async throws {
        let world = ConsoleWorld()
        let session = try await world.session("operate")
        // Only a form of this session signs out, even an old one.
        let foreign = FormToken.text(for: try await world.session("operate"), now: Samples.now)
        for form in [[], [("token", foreign)]] {
            let refused = try await world.post("/console/sign-out", form, in: session)
            #expect(refused.status == 403 && refused.cookie == nil)
            #expect(refused.body.contains("This form is of another session"))
        }
        let old = FormToken.text(for: session, now: Samples.now.addingTimeInterval(-FormToken.lifetime - 1))
        let out = try await world.post("/console/sign-out", [("token", old)], in: session)
        #expect(out.status == 303)
        #expect(out.cookie?.contains("Max-Age=0") == true)
        let copy = try await world.get("/console/apps", in: session)
        #expect(copy.status == 401 && copy.cookie?.contains("Max-Age=0") == true)
    }

    @Test func `a session ends when its key is revoked or replaced`() async throws {
        let world = ConsoleWorld()
        let session = try await world.session("operate")
        let id = ConsoleWorld.id(of: "operate")
        try await world.database.query("update api_keys set replaced_by = id where id = \(id)")
        #expect(
            try await world.get("/console/apps", in: session).body.contains("Its key was rotated. Sign in with its new")
        )
        try await world.database.query("update api_keys set revoked_at = now() where id = \(id)")
        let answer = try await world.get("/console/apps", in: session)
        #expect(answer.status == 401)
        #expect(answer.body.contains("Its key was revoked, was rotated without an overlap, or has expired."))
    }

    @Test(arguments: [
        (0, 7_199, true), (0, 7_201, false), (43_199 - 60, 43_199, true), (43_190, 43_201, false),
    ])
    func `a session ends after two hours without a page, and after twelve in any case`(
        used: Int, seconds: Int, isOpen: Bool
    ) async throws {
        var world = ConsoleWorld()
        let session = try await world.session("lookup")
        try await world.sessions.used(session.id, at: Samples.now + TimeInterval(used))
        world.now = { Samples.now.addingTimeInterval(TimeInterval(seconds)) }
        // A key with this scope may see no page (403). If the session has ended, the answer is 401, because the session
        // is checked before the scope.
        #expect(try await world.get("/console/apps", in: session).status == (isOpen ? 403 : 401))
    }

    @Test func `a page keeps a session alive, a script's request does not`() async throws {
        var world = ConsoleWorld()
        let session = try await world.session("lookup")
        world.now = { Samples.now.addingTimeInterval(3_600) }
        _ = try await world.get("/console/apps", in: session, headers: ["Grandstand-Live": "yes"])
        #expect(try await Self.all(world).map(\.usedAt) == [Samples.now])
        _ = try await world.get("/console/apps", in: session)
        #expect(try await Self.all(world).map(\.usedAt) == [Samples.now.addingTimeInterval(3_600)])
    }

    @Test func `signing in again ends the earlier session`() async throws {
        let world = ConsoleWorld()
        let session = try await world.session("operate")
        let answer = try await world.post("/console/sign-in", [("key", "organise")], in: session)
        #expect(answer.status == 303)
        #expect(try await Self.all(world).map(\.key) == [ConsoleWorld.id(of: "organise")])
    }
}
