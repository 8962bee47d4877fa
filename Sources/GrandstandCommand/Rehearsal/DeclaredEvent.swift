internal import APNsWire
internal import Foundation
internal import Grandstand
internal import GrandstandApp
internal import GrandstandClient
internal import JSON
internal import MatchDriver

/// An event as the API shows it, and its declaration for a rehearsal, with compressed times. Fields that this program
/// does not know stay unchanged.
struct DeclaredEvent: Sendable {
    private(set) var event: RehearsalEvent
    let state: String
    /// The apps and environments of the event's audiences.
    let apps: Set<AppEnvironment>
    /// The Swift type in the event's member `start`; `nil`: there is no `start`.
    let attributesType: String?
    /// The content type that checks the event's contents; `nil`: no content type checks them.
    private(set) var content: RehearsalContent?
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

    /// Sets the content type. It is the content type of the first audience that has one. The audience or the event
    /// names it; without a name, it is the app's only content type.
    mutating func find(in contents: [BundleID: [RehearsalContent]]) {
        for audience in json["audiences"]?.elements ?? [] where content == nil {
            let types = Self.app(audience).flatMap { contents[$0.bundleID] } ?? []
            let name = audience["content"]?.string ?? json["content"]?.string
            content =
                name.map { name in types.first { $0.type.attributesType == name } }
                ?? (types.count == 1 ? types.first : nil)
        }
        event.hasContentType = content != nil
    }

    private static func date(_ value: JSONValue?) -> Date? { value?.string.flatMap(RFC3339.date) }

    private static func app(_ audience: JSONValue) -> AppEnvironment? {
        guard let bundleID = audience["bundleId"]?.string.flatMap(BundleID.init),
            let environment = audience["environment"]?.string.flatMap(APNsEnvironment.init)
        else { return nil }
        return AppEnvironment(bundleID: bundleID, environment: environment)
    }

    /// The event's declaration for the rehearsal's database, with every time moved to the rehearsal's real time.
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

    /// The first content of the event's feed: the `contentState` of the event's `start`, or an example that the content
    /// type decodes.
    var firstContent: JSONValue? { json["start"]?["contentState"] ?? content?.example }

    /// The call that reports a state.
    ///
    /// - Parameters:
    ///   - event: the index of the event in the plan's scripts.
    ///   - mark: the number of the message that first had this content.
    func state(
        _ content: JSONValue?, _ message: RehearsalPlan.Message, event: Int, mark: Int
    ) throws -> GrandstandClient.Call<GrandstandClient.StateAnswer> {
        var marked = content.map { Draft($0, without: []) } ?? Draft()
        marked.set(Mark.member, raw: Array("[\(event),\(mark)]".utf8))
        return .putState(
            self.event.key,
            .init(
                contentState: try marked.json, sequence: message.number, final: message.isEnd))
    }

    /// The call that sends a message of the event's organiser. The content is the `contentState` of `start`, with an
    /// added member that identifies the message.
    ///
    /// - Parameters:
    ///   - event: the index of the event's script in the plan.
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
