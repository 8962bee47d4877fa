internal import APNsWire
internal import ContractKit
internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Testing

@testable internal import GrandstandServer

extension Samples {
    /// Every page, with an entry in each of its lists.
    func pages() async throws -> [any ConsolePage] {
        [
            SignIn(returningTo: "/console/events?state=live", fault: text),
            ResourcePage(Problem(.forbidden, text), requestID: "1a2b"),
            ResourcePage(
                Problem.invalid(text, at: text, text), FormFields(entries: [(text, text), ("long", text + "\n")]),
                path: "/console/test", back: "/console", asksForKey: true),
            overview([quota()]),
            EventList(
                [row], next: "next", EventFilter(state: .live, kind: text, bundleID: bundleID, text: text),
                visit("/console/events", query: "cursor=x")),
            try match(),
            ResourcePage(text, secret: text, for: text, warnings: [text], next: "/console/keys/1"),
            EventDetail(
                contents(event(), [try message([]), try message([])]), visit("/console/events/derby"),
                composer: Composer(event(), MessageForm(try request(), isWhole: false, now: Self.now))),
        ] + (try await resourcePages())
    }

    /// The pages of all resources, with answers that fit the contract.
    func resourcePages() async throws -> [any ConsolePage] {
        let operations = OpenAPIDocument.served.operations
        var pages: [any ConsolePage] = []
        for route in Resource.all.flatMap(\.routes) where route.form == nil {
            for query in ["cursor=x&state=failed&from=2026-11-21", "managed=false"] {
                var visit = visit(route.pattern, query: query)
                visit.perform = { call in
                    let answers = operations.first { $0.id == call.operation.id }?.value["responses"]
                    let schema = answers?["200"]?["content"]?["application/json"]?["schema"]
                    return .json(bytes: Array(json(try #require(schema)).utf8), headers: .version(1))
                }
                if case .page(let page, _) = try await route.handler(visit) { pages.append(page) }
            }
        }
        return pages
    }

    /// A value of a schema, with all its members, and with `text` for each text.
    func json(_ schema: YAML) -> String {
        let schema = OpenAPIDocument.served.resolved(schema)
        if let first = (schema["oneOf"] ?? schema["anyOf"])?.elements.first { return json(first) }
        if let word = schema["enum"]?.strings.first { return word.quotedJSON }
        switch schema["type"]?.string ?? schema["type"]?.strings.first {
        case "boolean": return "false"
        case "integer", "number": return "2"
        case "array": return "[\(json(schema["items"] ?? .null))]"
        case "string": return (schema["format"] == .text("date-time") ? RFC3339.text(Self.now) : text).quotedJSON
        default:
            guard let members = schema["properties"]?.members else { return "{\"text\":\(text.quotedJSON)}" }
            return "{\(members.map { "\($0.name.quotedJSON):\(json($0.value))" }.joined(separator: ","))}"
        }
    }

    /// A live event as a line.
    private var row: EventRow {
        EventRow(event(), ContentLine(Array(#"{"home": 1}"#.utf8), nil, since: Array("{}".utf8)))
    }

    /// The overview, with an entry in each of its parts.
    func overview(_ quotas: [Quota]) -> Overview {
        let sample = Contract.QuotaSample(
            bundleId: bundleID.rawValue, environment: .production, at: Self.now.addingTimeInterval(-300), used: 5,
            reserved: 0,
            peak: 5, limit: 100, created: 1, deleted: 0)
        return Overview(
            quotas, live: [row],
            Figure.all(
                (1_200, Self.now.addingTimeInterval(-30)),
                .init(development: .init(state: .unreachable, reason: text), production: .init(state: .reachable)),
                now: Self.now),
            samples: [sample], now: Self.now)
    }

    /// The frame of a page, with everything that it can contain.
    func frame(_ page: any ConsolePage) -> Frame {
        Frame(
            page, SignedIn(key: apiKey(bound: true), session: SessionSecret(), notice: text),
            path: "/console/events/derby", isLive: true, now: Self.now)
    }
}

extension Piece {
    /// The text that the page shows.
    var text: String {
        switch self {
        case .link(let link): link.label
        case .time(let moment): moment.text
        case .words(let text), .quoted(let text), .code(let text), .state(let text): text
        case .level(_, let text): text
        }
    }
}
