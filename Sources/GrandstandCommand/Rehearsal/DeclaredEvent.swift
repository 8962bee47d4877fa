internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON
internal import MatchDriver

/// An event as the API shows it, and its compressed form for a rehearsal. Fields that this program does not know stay
/// unchanged.
struct DeclaredEvent: Sendable {
    let event: RehearsalEvent
    let state: String
    /// The apps and environments of its audiences.
    let apps: Set<AppEnvironment>
    /// The Swift type in its start; `nil`: it has no start.
    let attributesType: String?
    private let json: JSONValue

    /// - Throws: `StartError` for JSON that is not an event.
    init(_ json: JSONValue) throws {
        guard let key = json["key"]?.string else { throw StartError("an event without a key was read") }
        self.json = json
        let startsAt = Self.date(json["startsAt"])
        var opensAt = Self.date(json["channelsOpenAt"])
        if case .number(let text) = json["channelsOpenBefore"]?.kind, let seconds = Double(text) {
            opensAt = startsAt?.addingTimeInterval(-seconds)
        }
        attributesType = json["start"]?["attributesType"]?.string
        event = RehearsalEvent(
            key: key, startsAt: startsAt, endsAt: Self.date(json["endsAt"]), opensAt: opensAt,
            hasStart: attributesType != nil, topics: (json["topics"]?.elements ?? []).compactMap(\.string))
        state = json["state"]?.string ?? ""
        apps = Set((json["audiences"]?.elements ?? []).compactMap(Self.app))
    }

    private static func date(_ value: JSONValue?) -> Date? { value?.string.flatMap(RFC3339.date) }

    private static func app(_ audience: JSONValue) -> AppEnvironment? {
        guard let bundleID = audience["bundleId"]?.string.flatMap(BundleID.init),
            let environment = audience["environment"]?.string.flatMap(APNsEnvironment.init)
        else { return nil }
        return AppEnvironment(bundleID: bundleID, environment: environment)
    }

    /// Its declaration for the rehearsal's database, with every time at its place in the plan.
    func declaration(
        _ plan: RehearsalPlan, since base: Date
    ) throws -> GrandstandClient.Call<GrandstandClient.Event> {
        func moved(_ date: Date?) -> String? { date.map { RFC3339.text(plan.moment(of: $0, since: base)) } }
        var draft = EventCommand.put.declared(json)
        draft.set("channelsOpenBefore", raw: Array("null".utf8))
        draft.set("startsAt", moved(event.startsAt))
        draft.set("endsAt", moved(event.endsAt))
        draft.set("channelsOpenAt", moved(event.opensAt))
        if let declared = draft["start"] {
            var start = Draft(declared, without: [])
            for name in ["at", "until", "staleDate"] { start.set(name, moved(Self.date(declared[name]))) }
            draft.set("start", raw: start.bytes)
        }
        return .putEvent(event.key, json: try draft.json)
    }

    /// A message of its organiser: the content of its start, with a member that identifies the message.
    ///
    /// - Parameters:
    ///   - event: the index of its script in the plan.
    ///   - expiresIn: seconds after which the message is no longer sent.
    func call(
        for message: RehearsalPlan.Message, event: Int, expiresIn: Int
    ) throws -> GrandstandClient.Call<GrandstandClient.Broadcast> {
        var content = json["start"]?["contentState"].map { Draft($0, without: []) } ?? Draft()
        content.set(Mark.member, raw: Array("[\(event),\(message.number)]".utf8))
        var draft = Draft()
        draft.set("event", message.isEnd ? "end" : "update")
        draft.set("contentState", raw: content.bytes)
        draft.set("expiresIn", expiresIn)
        if message.rings {
            var alert = Draft()
            alert.set("title", json["name"]?.string ?? self.event.key)
            alert.set("body", "Rehearsal, message \(message.number)")
            draft.set("alert", raw: alert.bytes)
        }
        return .broadcast(to: self.event.key, json: try draft.json)
    }
}
