internal import Grandstand
internal import HTTPTypes
internal import PortFakes
internal import Synchronization
internal import Testing

@testable internal import GrandstandHTTP

/// The limits and forbidden contents of a form.
struct FormBodyTests {
    /// Counts the calls of an action.
    private final class Count: Sendable {
        private let value = Mutex(0)
        var forms: Int { value.withLock(\.self) }
        func add() { value.withLock { $0 += 1 } }
    }

    private static func world(_ count: Count) -> ConsoleWorld {
        var world = ConsoleWorld()
        world.others = [
            ActionRoute("/test", .operate) { _ in
                count.add()
                return .elsewhere("/console/apps")
            }
        ]
        return world
    }

    @Test(arguments: [(499, 303), (500, 422), (20_000, 422)])
    func `a form may not have more fields than any page's form`(fields: Int, status: Int) async throws {
        let count = Count()
        let world = Self.world(count)
        let answer = try await world.submit("/console/test", Array(repeating: ("a", ""), count: fields), as: "operate")
        #expect(answer.status == status)
        if status == 422 { #expect(answer.body.contains("500 fields at most")) }
        #expect(count.forms == (status == 303 ? 1 : 0))
    }

    /// A text in PostgreSQL cannot contain a NUL. Without this check, the answer would be 500.
    @Test func `a NUL is refused in a form and in a query`() async throws {
        let count = Count()
        let world = Self.world(count)
        let form = try await world.submit("/console/test", [("name", "a\0b")], as: "operate")
        #expect(form.status == 422 && form.body.contains("U+0000"))
        for path in ["/console/audit-log?actor=a%00", "/console/events?kind=%00", "/console/events?%00=x"] {
            let page = try await world.get(path)
            #expect(page.status == 422 && page.body.contains("U+0000"), "\(path)")
        }
        #expect(count.forms == 0)
    }

    /// A key's scope is checked before its form, which may be large, is read.
    @Test func `a form is read only for a key that may send it`() async throws {
        let many = Array(repeating: ("a", ""), count: 600)
        #expect(try await Self.world(Count()).submit("/console/test", many, as: "organise").status == 403)
    }

    @Test(arguments: ["/console/sign-in", "/console/apps", "/console/style.css", "/console/events?state=nonsense"])
    func `HEAD answers like GET, without the page`(path: String) async throws {
        var world = ConsoleWorld()
        world.apps.list = { _, _ in Page(items: [], nextCursor: nil) }
        let (page, head) = (try await world.get(path), try await world.head(path))
        #expect(head.status == page.status && head.body.isEmpty && !page.body.isEmpty)
        for name in [HTTPField.Name.contentType, .contentLength, .cacheControl, .contentSecurityPolicy] {
            #expect(head.headers[name] == page.headers[name], "\(name)")
        }
        let out = try await world.head("/console/apps", as: nil)
        #expect(out.status == 303 && out.location == "/console/sign-in?next=%2Fconsole%2Fapps")
    }
}
