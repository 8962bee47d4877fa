internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// An event as a person types it, and its conversion to the API's body.
struct EventForm: Sendable, Equatable {
    var key = ""
    var name = ""
    var kind = ""
    var startsAt = ""
    var endsAt = ""
    var channelsOpenBefore = ""
    var topics = ""
    /// One audience a line: `com.example.Stadium production noMessageStored [VARIANT]`.
    var audiences = ""
    /// More members of the body, as a JSON object: `start`, `defaults`, `metadata`.
    var more = ""

    init() {}

    init(_ fields: FormFields) {
        key = fields["key"] ?? ""
        name = fields["name"] ?? ""
        kind = fields["kind"] ?? ""
        startsAt = fields["startsAt"] ?? ""
        endsAt = fields["endsAt"] ?? ""
        channelsOpenBefore = fields["channelsOpenBefore"] ?? ""
        topics = fields["topics"] ?? ""
        audiences = fields.text("audiences")
        more = fields.json("more")
    }

    /// The body of `PUT /v1/events/{key}`, and the faults of the fields that could not be written into it.
    func body() -> (bytes: [UInt8], faults: [APIProblem.Fault]) {
        var faults: [APIProblem.Fault] = []
        var json = JSONWriter()
        json.object { object in
            object.member("name", name)
            if !kind.isEmpty { object.member("kind", kind) }
            if !startsAt.isEmpty { object.member("startsAt", FormTime.utc(startsAt)) }
            if !endsAt.isEmpty { object.member("endsAt", FormTime.utc(endsAt)) }
            if !channelsOpenBefore.isEmpty {
                if let hours = Double(channelsOpenBefore), hours >= 0, hours < 10_000 {
                    object.member("channelsOpenBefore", Int((hours * 3_600).rounded()))
                } else {
                    faults.append(.init(pointer: "channelsOpenBefore", detail: "A number of hours was expected."))
                }
            }
            let topics = topics.split { $0 == "," || $0.isWhitespace }.map(String.init)
            if !topics.isEmpty { object.member("topics", topics) }
            object.name("audiences")
            object.array(audienceLines(&faults)) { writer, audience in writer.raw(audience) }
            for (name, value) in further(&faults) {
                object.name(dynamic: name)
                object.raw(value)
            }
        }
        return (json.bytes, faults)
    }

    private func audienceLines(_ faults: inout [APIProblem.Fault]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for line in audiences.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard (3...4).contains(words.count) else {
                if !words.isEmpty {
                    faults.append(
                        .init(
                            pointer: "audiences",
                            detail:
                                "“\(line.prefix(100))” should be an app, an environment, a storage policy and, if it "
                                + "has one, a variant."))
                }
                continue
            }
            var json = JSONWriter()
            json.object { object in
                object.member("bundleId", words[0])
                object.member("environment", words[1])
                object.member("storagePolicy", words[2])
                if words.count > 3 { object.member("variant", words[3]) }
            }
            lines.append(json.bytes)
        }
        return lines
    }

    private func further(_ faults: inout [APIProblem.Fault]) -> [(String, [UInt8])] {
        guard !more.isEmpty else { return [] }
        do throws(Problem) {
            let value = try JSONValue(parsing: Array(more.utf8))
            guard case .object(let members) = value.kind else {
                faults.append(.init(pointer: "more", detail: "An object was expected, not \(value.kindName)."))
                return []
            }
            let said: Set = ["name", "kind", "startsAt", "endsAt", "channelsOpenBefore", "topics", "audiences"]
            for member in members where said.contains(member.name) {
                faults.append(.init(pointer: "more", detail: "\(member.name) has a field of its own above."))
            }
            return members.filter { !said.contains($0.name) }.map { ($0.name, $0.value.bytes) }
        } catch {
            faults.append(.init(pointer: "more", detail: error.detail))
            return []
        }
    }
}
