internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON

extension StartDeclaration {
    /// Reads the member `start` of an event, leaving faults with `fields`; the value means nothing when there are any.
    ///
    /// - Parameters:
    ///   - startsAt: the event's.
    ///   - audiences: the event's.
    static func read(_ fields: inout JSONFields, startsAt: Date?, audiences: [Audience]) -> StartDeclaration? {
        guard let value = fields.value("start") else { return nil }
        guard case .object = value.kind else {
            fields.fault("start", "An object was expected, not \(value.kindName).")
            return nil
        }
        var start = JSONFields(value, pointer: fields.pointer(to: "start"))
        let declaration = StartDeclaration(
            at: start.date("at"), until: start.date("until"),
            attributesType: start.text("attributesType", required: true, maximum: 128) ?? "",
            attributes: start.object("attributes", required: true) ?? [], contentState: start.object("contentState"),
            alert: start.alertOfStart() ?? [],
            alertsByLocale: start.alertsByLocale(advice: "Apple starts no activity without one."),
            staleDate: start.date("staleDate").map {
                Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
            },
            audiences: chosen(&start, from: audiences))
        if let from = declaration.at ?? startsAt {
            if let until = declaration.until, until <= from {
                start.fault("until", "until is not after the time of the start, \(RFC3339.text(from)).")
            }
        } else {
            start.fault("at", "Say when: at, or startsAt of the event.")
        }
        fields.absorb(start)
        return declaration
    }

    private static func chosen(_ start: inout JSONFields, from audiences: [Audience]) -> [AudienceSelector]? {
        guard let selectors = start.selectors("audiences") else { return nil }
        var chosen: [AudienceSelector] = []
        for (place, selector) in selectors.enumerated() {
            if !audiences.contains(where: { selector.matches($0.id) }) {
                start.fault(
                    at: "\(start.pointer(to: "audiences"))/\(place)",
                    selector.objection(among: audiences.map(\.id)))
            }
            if !chosen.contains(selector) { chosen.append(selector) }
        }
        return chosen
    }
}

extension JSONFields {
    /// The topics of an event, each once.
    mutating func topics() -> [Topic] {
        var topics: [Topic] = []
        var seen: Set<Topic> = []
        for (value, pointer) in array("topics", count: 0...EventSpecification.maximumTopics) ?? [] {
            guard let topic = value.string.flatMap(Topic.init) else {
                fault(at: pointer, Topic.rule)
                continue
            }
            if seen.insert(topic).inserted {
                topics.append(topic)
            } else {
                fault(at: pointer, "\(topic) stands twice.")
            }
        }
        return topics
    }
}
