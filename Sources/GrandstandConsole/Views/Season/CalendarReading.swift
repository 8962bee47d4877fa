internal import Grandstand

/// What a sync would change, or changed, read off the API's answer.
struct CalendarChanges: Sendable {
    struct Line: Sendable {
        let key: String
        let name: String
        let startsAt: Moment?
        /// `startsAt: 2026-… → 2026-…`, or why it is cancelled.
        let change: String
    }

    struct Fault: Sendable {
        let line: String
        let detail: String
        let uid: String
    }

    struct Foreseen: Sendable {
        let app: String
        let limit: String
        let before: String
        let after: String
        let exceedsAt: Moment?
    }

    let create: Excerpt<Line>
    let change: Excerpt<Line>
    let cancel: Excerpt<Line>
    let unchanged: String
    let past: String
    let problems: [Fault]
    let forecast: [Foreseen]
    let isNothing: Bool

    /// - Throws: `malformed-json`.
    init(_ answer: APIAnswer) throws(Problem) {
        let json = try answer.json()
        create = Excerpt((json["create"]?.elements ?? []).map { Self.line($0, "") })
        change = Excerpt((json["change"]?.elements ?? []).map { Self.line($0, Self.fields($0)) })
        cancel = Excerpt((json["cancel"]?.elements ?? []).map { Self.line($0, $0["reason"]?.string ?? "") })
        unchanged = Self.number(json["unchanged"])
        past = Self.number(json["past"])
        problems = (json["problems"]?.elements ?? []).prefix(Excerpt<Line>.limit).map { problem in
            Fault(
                line: Self.number(problem["line"]), detail: problem["detail"]?.string ?? "",
                uid: problem["uid"]?.string ?? "")
        }
        let before = json["forecast"]?["before"]?.elements ?? []
        let after = json["forecast"]?["after"]?.elements ?? []
        forecast = zip(before, after).map { before, after in
            Foreseen(
                app: [after["bundleId"]?.string, after["environment"]?.string].compactMap(\.self).joined(
                    separator: ", "),
                limit: Self.number(after["limit"]), before: Self.number(before["peak"]),
                after: Self.number(after["peak"]),
                exceedsAt: after["exceedsAt"]?.string.map(Moment.init(iso:)))
        }
        isNothing = create.rows.isEmpty && change.rows.isEmpty && cancel.rows.isEmpty
    }

    /// In a sentence, for a notice.
    var summary: String {
        "\(create.count) created, \(change.count) changed, \(cancel.count) cancelled, \(unchanged) as they were"
            + (problems.isEmpty ? "." : "; \(Wording.count(problems.count, "entry", "entries")) could not be read.")
    }

    private static func line(_ json: JSONValue, _ change: String) -> Line {
        Line(
            key: json["eventKey"]?.string ?? "", name: json["name"]?.string ?? "",
            startsAt: json["startsAt"]?.string.map(Moment.init(iso:)), change: change)
    }

    private static func fields(_ json: JSONValue) -> String {
        guard case .object(let members)? = json["fields"]?.kind else { return "" }
        return members.map { member in
            let values = (member.value.elements ?? []).map { value in
                value.string ?? String(decoding: value.source.prefix(200), as: UTF8.self)
            }
            return "\(member.name): \(values.joined(separator: " → "))"
        }.joined(separator: "; ")
    }

    private static func number(_ value: JSONValue?) -> String {
        if case .number(let text)? = value?.kind { Wording.number(Int(text) ?? 0) } else { "0" }
    }
}
