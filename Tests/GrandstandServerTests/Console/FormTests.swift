internal import Foundation
internal import Grandstand
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

    @Test func `words are read or refused`() throws {
        let fields = FormFields("state=live&bad=nonsense")
        #expect(try fields.choice("state", Contract.EventState.self) == .live)
        #expect(try fields.choice("none", Contract.EventState.self) == nil)
        let refused = #expect(throws: Problem.self) { try fields.choice("bad", Contract.EventState.self) }
        #expect(refused?.detail.contains("scheduled, live, ended, cancelled") == true)
    }

    @Test(
        arguments: [(String?, String?, Bool)]([
            (nil, nil, true), ("same-origin", "null", true), ("none", nil, true), ("cross-site", "http://h:1", false),
            ("same-site", nil, false), (nil, "http://h:1", true), (nil, "https://H:1", true),
            (nil, "http://h:2", false),
            (nil, "null", false), (nil, "ftp://h:1", false), (nil, "http://h:1.example.com", false),
        ]))
    func `a form is accepted if it comes from a page of this server`(site: String?, origin: String?, ours: Bool) {
        #expect(FormOrigin.isOurs(site: site, origin: origin, authority: "h:1") == ours)
        // A page over HTTPS sends no form over HTTP.
        let isSafe = ours && origin?.hasPrefix("http:") != true
        #expect(FormOrigin.isOurs(site: site, origin: origin, authority: "h:1", isHTTPS: true) == isSafe)
    }

    @Test(
        arguments: [(String?, String)]([
            ("/console/events?state=live", "/console/events?state=live"), ("/console", "/console"),
            ("/console?refresh=off", "/console?refresh=off"), (nil, "/console"), ("https://example.com", "/console"),
            ("//example.com", "/console"), ("/consoles", "/console"), ("/console@example.com", "/console"),
            ("/console/\\example", "/console"), ("/console/a b", "/console"), ("/console/\r\nX: y", "/console"),
            ("/console/sign-in?next=x", "/console"), ("/console/sign-out", "/console"),
        ]))
    func `after sign-in the console continues with the requested page`(target: String?, place: String) {
        #expect(ConsolePath.returning(to: target) == place)
    }

    @Test func `the cookie is restricted to HTTPS only if the server uses it`() throws {
        let request = Request(
            head: .init(method: .post, scheme: nil, authority: "h", path: "/console/sign-in"),
            body: .init(buffer: .init()))
        func cookie(_ isSecure: Bool, _ value: String = "x", _ maxAge: Int = 60) -> Cookie {
            SessionCookie(isSecure: isSecure).cookie(SessionCookie.name, value, maxAge: maxAge, for: request)
        }
        #expect(cookie(true).secure && !cookie(false).secure)
        let kept = cookie(true)
        #expect(kept.httpOnly && kept.sameSite == .strict && kept.path == "/console" && kept.value == "x")
        #expect(cookie(true, "", 0).maxAge == 0)
    }

    @Test func `the address of the page turns the refresh on and off`() {
        #expect(Refresh(seconds: 5, path: "/console", query: nil, isOff: false).otherwise == "/console?refresh=off")
        #expect(Refresh(seconds: 5, path: "/console", query: "refresh=off", isOff: true).otherwise == "/console")
        let filtered = Refresh(seconds: 5, path: "/console/events", query: "state=live&refresh=off", isOff: true)
        #expect(filtered.otherwise == "/console/events?state=live")
    }
}
