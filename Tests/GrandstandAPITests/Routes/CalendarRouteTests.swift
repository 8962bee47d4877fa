internal import Calendars
internal import Foundation
internal import Grandstand
internal import GrandstandTestKit
internal import HTTPTypes
internal import PortFakes
internal import Testing

@testable internal import GrandstandAPI

/// `/v1/calendars`.
struct CalendarRouteTests {
    private static let one = "/v1/calendars/bl1"
    private static let url = #", "url": "https://example.com/season.ics""#
    private static let file =
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20261128T143000Z\nSUMMARY:A - B\n"
        + "END:VEVENT\nBEGIN:VEVENT\nUID:2\nDTSTART:20261128T143000Z\nRRULE:FREQ=DAILY\nEND:VEVENT\nEND:VCALENDAR\n"

    private static func calendar(_ text: String = CalendarWorld.ics()) throws -> FixtureCalendar {
        FixtureCalendar(
            name: try #require(CalendarName(rawValue: "bl1")), declaration: try CalendarWorld.declaration(text),
            reach: .all, createdAt: RouteWorld.now, updatedAt: RouteWorld.now, version: 7)
    }

    /// A world with one calendar, whose syncs are planned for no events.
    private static func world(_ text: String = CalendarWorld.ics()) throws -> RouteWorld {
        let calendar = try calendar(text)
        var world = RouteWorld()
        world.calendars.find = { $0.rawValue == "bl1" ? calendar : nil }
        world.calendars.carryOut = { wish, _ in
            CalendarReport(
                plan: CalendarPlan(wish, .init(synced: [:], events: [:], now: RouteWorld.now), documents: .api),
                forecasts: [])
        }
        return world
    }

    private static func put(_ description: String, _ more: String, _ pointer: String, hint: String = "") -> Refusal {
        Refusal(description, "PUT", one, CalendarWorld.ics(more), pointers: [pointer], hint: hint)
    }

    static let refusals: [Refusal] = [
        .init("nothing", "PUT", one, "{}", pointers: ["/format", "/eventKey", "/audiences"]),
        .init(
            "a field that is none", "PUT", one, CalendarWorld.ics(#", "x": 1"#), slug: "unknown-field", pointers: ["/x"]
        ),
        .init(
            "one key for all", "PUT", one, CalendarWorld.ics().replacing("bl1:{uid}", with: "bl1"),
            pointers: ["/eventKey"], hint: "{uid}"),
        .init(
            "a brace alone", "PUT", one, CalendarWorld.ics().replacing("bl1:{uid}", with: "bl1:{uid"),
            pointers: ["/eventKey"]),
        .init(
            "an audience that is none", "PUT", one, CalendarWorld.ics().replacing("noMessageStored", with: "none"),
            pointers: ["/audiences/0/storagePolicy"]),
        put("a name with a brace", #", "name": "}""#, "/name"),
        .init(
            "no time zone", "PUT", one, CalendarWorld.ics().replacing("Europe/Vienna", with: "Mars/Olympus"),
            pointers: ["/timeZone"], hint: "Europe/Vienna"),
        .init(
            "a way out of the folder", "PUT", one,
            CalendarWorld.ics().replacing("Europe/Vienna", with: "../../etc/passwd"),
            pointers: ["/timeZone"]),
        put("a private address", #", "url": "https://10.0.0.1/""#, "/url", hint: "GRANDSTAND_WEBHOOK_NETWORKS"),
        put("in the clear", #", "url": "http://example.com/""#, "/url", hint: "GRANDSTAND_WEBHOOK_HTTP"),
        put("a refresh of nothing", #", "refreshEvery": 60"#, "/refreshEvery"),
        put("too often", #"\#(url), "refreshEvery": 0"#, "/refreshEvery"),
        put("a pattern for iCalendar", #", "datePattern": "dmy""#, "/datePattern"),
        put("a column of numbers", #", "columns": {"home": 1}"#, "/columns/home"),
        put("a start that is none", #", "start": {"attributes": {}}"#, "/start/attributesType"),
        put(
            "a brace in a start", #", "start": {"attributesType": "A{", "attributes": {}, "alert": {}}"#,
            "/start/attributesType"),
        .init("a name that is none", "PUT", "/v1/calendars/a%20b", CalendarWorld.ics(), pointers: ["name"]),
        .init("no such calendar", "GET", "/v1/calendars/a%20b", status: 404, slug: "calendar-not-found"),
        .init("a page of nothing", "GET", "/v1/calendars?limit=0", pointers: ["limit"]),
        .init(
            "no tag", "PUT", one, CalendarWorld.ics(), headers: ["If-Match": "5"], pointers: ["If-Match"]),
        .init(
            "a perhaps", "POST", one + "/sync?cancelAll=perhaps", file, headers: ["Content-Type": "text/calendar"],
            pointers: ["cancelAll"]),
        .init(
            "a typo", "POST", one + "/sync", #"{"cancelall": true}"#, slug: "unknown-field", pointers: ["/cancelall"]),
        .init(
            "a picture", "POST", one + "/preview", "x", headers: ["Content-Type": "image/png"], status: 415,
            slug: "unsupported-media-type", hint: "text/csv"),
        .init(
            "too large", "POST", one + "/sync", bytes: Array(repeating: 0x20, count: CalendarLimits.bytes + 1),
            headers: ["Content-Type": "text/calendar"], status: 413, slug: "body-too-large"),
    ]

    @Test(arguments: refusals)
    func `bad input is refused before anything is asked`(refusal: Refusal) async throws { try await refusal.check() }

    static let fileRefusals: [Refusal] = [
        .init(
            "the wrong form", "POST", one + "/sync", "uid\n1", headers: ["Content-Type": "text/csv"], status: 415,
            slug: "unsupported-media-type", hint: "text/calendar"),
        .init(
            "a file that is cut off", "POST", one + "/preview", "BEGIN:VCALENDAR\nBEGIN:VEVENT\n",
            headers: ["Content-Type": "text/calendar; charset=utf-8"], pointers: ["line 2"], hint: "cut off"),
        .init(
            "no calendar", "POST", one + "/sync", "<html>", headers: ["Content-Type": "text/calendar"],
            pointers: ["line 1"]),
        .init("nothing to fetch", "POST", one + "/sync", pointers: [], hint: "has no url"),
    ]

    @Test(arguments: fileRefusals)
    func `a file that cannot be read changes nothing, and its line is told`(refusal: Refusal) async throws {
        var world = try Self.world()
        world.calendars.carryOut = { _, _ in throw Unasked() }
        let answer = try await world(refusal.method, refusal.path, refusal.body, headers: refusal.headers)
        refusal.expect(status: answer.status, slug: answer.slug, pointers: answer.pointers, text: answer.text)
    }

    @Test func `a calendar is shown as it was declared, with its version`() async throws {
        var world = try Self.world(CalendarWorld.ics(Self.url))
        let shown = try await world("GET", Self.one)
        #expect(shown.status == 200)
        #expect(shown.headers[.eTag] == "\"7\"")
        #expect(shown.json["calendar"] as? String == "bl1")
        #expect(shown.json["eventKey"] as? String == "bl1:{uid}")
        #expect(shown.json["lastSync"] is NSNull)
        let calendar = try Self.calendar()
        world.apps.find = { _ in Sample.app() }
        world.calendars.save = { _, declaration, condition in
            guard condition == .versions([7]), declaration.url == nil else { throw Unasked() }
            return (calendar, false)
        }
        let put = try await world("PUT", Self.one, CalendarWorld.ics(), headers: ["If-Match": "\"7\""])
        #expect(put.status == 200, "\(put.text)")
        world.calendars.list = { _, _ in Page(items: [calendar], nextCursor: "bl1") }
        #expect(try await world("GET", "/v1/calendars").items.count == 1)
    }

    @Test func `an app that is not registered is told by its place`() async throws {
        var world = try Self.world()
        world.apps.find = { _ in nil }
        let answer = try await world("PUT", Self.one, CalendarWorld.ics())
        #expect(answer.status == 422)
        #expect(answer.pointers == ["/audiences/0/bundleId"])
    }

    @Test(arguments: [("PUT", ""), ("GET", ""), ("POST", "/sync"), ("POST", "/preview")])
    func `a key of another app has no part in a calendar`(method: String, rest: String) async throws {
        let text = CalendarWorld.ics().replacing("com.example.Stadium", with: "com.example.Other")
        let world = try Self.world(text)
        let body = method == "GET" ? nil : method == "PUT" ? Array(text.utf8) : Array("{}".utf8)
        let answer = try await world(method, Self.one + rest, body, as: "gs_stadium")
        #expect(answer.status == 403)
        #expect(answer.slug == "forbidden")
    }

    @Test func `a file is synced or looked at, and its problems have lines`() async throws {
        for verb in ["sync", "preview"] {
            var world = try Self.world()
            let carryOut = world.calendars.carryOut
            world.calendars.carryOut = { wish, isRehearsal in
                guard isRehearsal == (verb == "preview"), !wish.cancelAll else { throw Unasked() }
                return try carryOut(wish, isRehearsal)
            }
            let answer = try await world(
                "POST", "\(Self.one)/\(verb)", Self.file, headers: ["Content-Type": "Text/Calendar; charset=utf-8"])
            #expect(answer.status == 200, "\(answer.text)")
            #expect((answer.json["create"] as? [[String: Any]])?.map { $0["eventKey"] as? String } == ["bl1:1"])
            #expect((answer.json["problems"] as? [[String: Any]])?.map { $0["line"] as? Int } == [10])
            #expect(answer.json["unchanged"] as? Int == 0)
            #expect(Set((answer.json["forecast"] as? [String: Any] ?? [:]).keys) == ["before", "after"])
        }
    }

    @Test func `without a file its url is fetched, and why that failed is told`() async throws {
        var world = try Self.world(CalendarWorld.ics(Self.url))
        world.web.file = { url in
            url.rawValue == "https://example.com/season.ics" ? .file(Array(Self.file.utf8)) : .failed("another")
        }
        #expect(try await world("POST", Self.one + "/sync").status == 200)
        #expect(try await world("POST", Self.one + "/sync", "{}").status == 200)
        world.web.file = { _ in .failed("HTTP 404") }
        let answer = try await world("POST", Self.one + "/sync")
        #expect(answer.status == 502)
        #expect(answer.slug == "calendar-unavailable")
        #expect(answer.detail == "https://example.com: HTTP 404.")
    }

    @Test func `everything that vanished is cancelled when the query or the body says so`() async throws {
        let calls: [(path: String, body: String, type: String, hasFile: Bool)] = [
            (Self.one + "/sync?cancelAll=true", Self.file, "text/calendar", true),
            (Self.one + "/sync", #"{"cancelAll": true}"#, "application/json", false),
        ]
        for call in calls {
            var world = try Self.world()
            let carryOut = world.calendars.carryOut
            world.calendars.carryOut = { wish, isRehearsal in
                guard wish.cancelAll, (wish.drafts != nil) == call.hasFile else { throw Unasked() }
                return try carryOut(wish, isRehearsal)
            }
            let answer = try await world("POST", call.path, call.body, headers: ["Content-Type": call.type])
            #expect(answer.status == 200, "\(answer.text)")
        }
    }
}
