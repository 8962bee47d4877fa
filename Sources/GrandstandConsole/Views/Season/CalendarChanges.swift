internal import Grandstand

/// What a sync would change, or changed, read off the API's answer.
struct CalendarChanges: Sendable {
    /// Events that are created, changed, cancelled; those of which there are some.
    let events: [Table]
    let unchanged: String
    let past: String
    /// Entries of the file that could not be read.
    let problems: Table
    /// Problems of the whole file.
    let remarks: [String]
    let forecast: Table
    let isNothing: Bool
    /// In a sentence, for a notice.
    let summary: String

    /// - Throws: `malformed-json`.
    init(_ answer: APIAnswer) throws(Problem) {
        let json = try answer.json()
        let all = ["create", "change", "cancel"].map { json.items($0) }
        events = [
            Self.table("Created", all[0]),
            Self.table("Changed", all[1], Column("Change") { [.quoted(Self.fields($0))] }),
            Self.table("Cancelled", all[2], Column("Why") { [.words($0.text("reason"))] }),
        ].filter { !$0.rows.isEmpty }
        unchanged = Wording.number(json.integer("unchanged"))
        past = Wording.number(json.integer("past"))
        let found = json.items("problems")
        let unread = found.filter(Self.isOfLine)
        remarks = found.filter { !Self.isOfLine($0) }.map { $0.text("detail") }
        problems = Table(
            "These entries cannot be read; all others are taken, and the events of these stay as they are", unread,
            [
                .number("Line") { $0.integer("line") }, Column("What is wrong") { [.quoted($0.text("detail"))] },
                Column("Its name in the file") { [.quoted($0.text("uid"))] },
            ])
        forecast = Self.forecast(json["forecast"]?.items("before") ?? [], json["forecast"]?.items("after") ?? [])
        isNothing = all.allSatisfy(\.isEmpty) && remarks.isEmpty
        let counts = all.map { Wording.number($0.count) }
        summary =
            "\(counts[0]) created, \(counts[1]) changed, \(counts[2]) cancelled, \(unchanged) as they were"
            + (unread.isEmpty ? "." : "; \(Wording.count(unread.count, "entry", "entries")) could not be read.")
            + remarks.map { " " + $0 }.joined()
    }

    private static func isOfLine(_ problem: JSONValue) -> Bool {
        if case .number? = problem["line"]?.kind { true } else { false }
    }

    private static func table(_ what: String, _ events: [JSONValue], _ more: Column<JSONValue>...) -> Table {
        Table(
            "\(what): \(Wording.number(events.count))", events,
            [
                Column("Event") { [.quoted($0.text("name"))] }, Column("Key") { [.code($0.text("eventKey"))] },
                Column("Starts") { [.moment($0.moment("startsAt"))] },
            ] + more)
    }

    /// The most places that will be taken, as it is and as it would be.
    private static func forecast(_ before: [JSONValue], _ after: [JSONValue]) -> Table {
        Table(
            "The most places that will be taken at once", limit: .max, Array(zip(before, after)),
            [
                Column("App") { [.quoted(Wording.list($0.1["bundleId"]?.string, $0.1["environment"]?.string))] },
                .number("Before") { $0.0.integer("peak") }, .number("After") { $0.1.integer("peak") },
                .number("Limit") { $0.1.integer("limit") },
                Column("Too many") { Season.excess($0.1.moment("exceedsAt")) },
            ])
    }

    /// `startsAt: 2026-… → 2026-…`
    private static func fields(_ json: JSONValue) -> String {
        guard case .object(let members)? = json["fields"]?.kind else { return "" }
        return members.map { member in
            let values = (member.value.elements ?? []).map { value in
                value.string ?? String(decoding: value.source.prefix(200), as: UTF8.self)
            }
            return "\(member.name): \(values.joined(separator: " → "))"
        }.joined(separator: "; ")
    }
}
