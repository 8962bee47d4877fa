internal import Foundation
internal import Grandstand
internal import HTTPTypes
internal import Hummingbird
internal import Testing

@testable internal import GrandstandServer

/// Forms as they arrive: fields, origins and addresses to return to.
struct FormTests {
    @Test func `fields are decoded, and an empty field counts as missing`() {
        let fields = FormFields("a=1+2&b=%26%3D&c=&d=+%0A&e&f=%zz&a=3&g=%C3%A4&h=%+1")
        #expect(fields["a"] == "3")
        #expect(fields["b"] == "&=")
        for name in ["c", "d", "e", "f", "h", "nothing"] { #expect(fields[name] == nil, "\(name)") }
        #expect(fields["g"] == "ä")
        #expect(FormFields("key=%20gs_x%0D%0A")["key"] == "gs_x")
    }

    @Test(
        arguments: [(String?, String?, Bool)]([
            (nil, nil, true), ("same-origin", "null", true), ("none", nil, true), ("cross-site", "http://h:1", false),
            ("same-site", nil, false), (nil, "http://h:1", true), (nil, "https://H:1", true),
            (nil, "http://h:2", false),
            (nil, "null", false), (nil, "ftp://h:1", false), (nil, "http://h:1.example.com", false),
        ]))
    func `a form is accepted if it comes from a page of this server`(site: String?, origin: String?, ours: Bool) {
        func isOurs(_ scheme: String) -> Bool {
            var fields: HTTPFields = [.xForwardedProto: scheme]
            (fields[.secFetchSite], fields[.origin]) = (site, origin)
            return Request(
                head: .init(method: .post, scheme: nil, authority: "h:1", path: "/", headerFields: fields),
                body: .init(buffer: .init())
            ).isOfOurPage
        }
        // A page over HTTPS sends no form over HTTP.
        #expect(isOurs("http") == ours && isOurs("https") == (ours && origin?.hasPrefix("http:") != true))
    }

    @Test(
        arguments: [(String?, String)]([
            ("/console/events?state=live", "/console/events?state=live"), ("/console", "/console"),
            (nil, "/console"), ("https://example.com", "/console"),
            ("//example.com", "/console"), ("/consoles", "/console"), ("/console@example.com", "/console"),
            ("/console/\\example", "/console"), ("/console/a b", "/console"), ("/console/\r\nX: y", "/console"),
            ("/console/sign-in?next=x", "/console"), ("/console/sign-out", "/console"),
        ]))
    func `after sign-in the console continues with the requested page`(target: String?, place: String) {
        #expect(ConsolePath.safeReturn(to: target) == place)
    }
}

/// The checks of a form before its action is carried out, and the result of the action.
@Suite(.database)
struct ActionTests {
    /// A console with two actions: one renames, one deletes.
    private static func world(_ deeds: Tally) -> ConsoleWorld {
        var world = ConsoleWorld()
        world.others = [
            PageRoute("/test/:id/rename", .operate, form: .reversible) { visit in
                let name = visit.fields["name"] ?? ""
                deeds.add("rename \(name)")
                return .redirect("/console/apps", notice: "Renamed \(name)")
            },
            PageRoute("/test/:id/delete", .operate, form: .irreversible) { _ in
                deeds.add("delete")
                return .redirect("/console/apps")
            },
        ]
        return world
    }

    @Test func `the next page says what was done, to this session only`() async throws {
        let world = Self.world(Tally())
        let session = try await world.session("operate")
        let token = session.formToken()
        let answer = try await world.post("/console/test/1/rename", [("name", "Cup"), ("token", token)], in: session)
        #expect(answer.status == 303 && answer.location == "/console/apps")
        // A page fetched by a script has no notice, nor has another session. The notice waits for the next page.
        let live = ["Grandstand-Live": "yes"]
        #expect(try await !world.get("/console/apps", in: session, headers: live).text.contains("Renamed Cup"))
        #expect(try await !world.get("/console/apps", as: "operate").text.contains("Renamed Cup"))
        #expect(try await world.get("/console/apps", in: session).text.contains("Renamed Cup"))
        #expect(try await !world.get("/console/apps", in: session).text.contains("Renamed Cup"))
    }

    @Test func `a form of another session does nothing and is shown again`() async throws {
        let deeds = Tally()
        let world = Self.world(deeds)
        let session = try await world.session("operate")
        let foreign = try await world.session("operate").formToken()
        let answer = try await world.post(
            "/console/test/1/rename", [("name", "Typed with care"), ("token", foreign)], in: session)
        #expect(answer.status == 403)
        #expect(answer.text.contains("another session") && answer.text.contains("Nothing was sent."))
        #expect(answer.text.contains(">Typed with care</textarea>"))
        #expect(deeds.all.isEmpty)
    }

    @Test func `an action that cannot be undone asks for the key again`() async throws {
        let deeds = Tally()
        let world = Self.world(deeds)
        for (key, status, words) in [
            ("", 403, "not known"), ("gs_guess", 403, "not known"), ("organise", 403, "another key"),
        ] {
            let answer = try await world.submit("/console/test/1/delete", [("currentKey", key)], as: "operate")
            #expect(answer.status == status, "\(key)")
            #expect(answer.text.contains(words) && answer.text.contains("Nothing was sent."), "\(key)")
            #expect(key.isEmpty || !answer.text.contains(">\(key)<"))
        }
        #expect(deeds.all.isEmpty)
        let answer = try await world.submit("/console/test/1/delete", [("currentKey", " operate ")], as: "operate")
        #expect(answer.status == 303)
        #expect(deeds.all == ["delete": 1])
    }

    @Test func `a form does nothing when signed out, and may not be huge or have too many fields`() async throws {
        let deeds = Tally()
        let world = Self.world(deeds)
        let out = try await world.post("/console/test/1/rename", [("name", "x")])
        #expect(out.status == 401)
        #expect(out.text.contains("Nothing was sent."))
        let huge = String(repeating: "x", count: 2_100_000)
        #expect(try await world.submit("/console/test/1/rename", [("name", huge)], as: "operate").status == 413)
        for (fields, status) in [(500, 422), (20_000, 422), (499, 303)] {
            #expect(deeds.all.isEmpty)
            let many = Array(repeating: ("a", ""), count: fields - 1) + [("currentKey", "operate")]
            let answer = try await world.submit("/console/test/1/delete", many, as: "operate")
            #expect(answer.status == status)
            #expect(status == 303 || answer.text.contains("500 fields at most"))
        }
        // A key's scope is checked before its form, which may be large, is read.
        let many = Array(repeating: ("a", ""), count: 600)
        #expect(try await world.submit("/console/test/1/rename", many, as: "organise").status == 403)
        #expect(deeds.all == ["delete": 1])
    }

    /// A text in PostgreSQL cannot contain a NUL. Without this rule, the answer would be 500.
    @Test func `a NUL is replaced in a form and in a query`() async throws {
        #expect(FormFields("name=a%00b")["name"] == "a\u{FFFD}b")
        #expect(try await ConsoleWorld().get("/console/events?kind=%00").status == 200)
    }

}
