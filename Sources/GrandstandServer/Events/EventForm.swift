internal import APNsWire
internal import FoundationEssentials
internal import Grandstand
internal import JSON

/// An event as a person types it: a field for each simple member of the API's body, audiences as lines, and the rest as
/// JSON.
struct EventForm: Sendable {
    /// Members without a field. Most people need neither of them.
    static let hidden: Set = ["audiences", "channelsOpenAt", "metadata", "start", "content"]

    var fields: FormFields
    /// One audience a line: `com.example.Stadium production noMessageStored [VARIANT]`.
    var audiences: String { fields.text("audiences") }
    /// More members of the body, as a JSON object: `start`, `content`, `metadata`.
    var more: String { fields.json("more") }

    /// What docs/organising.md advises for a match: people who are offline get no old score, and a score is out of date
    /// after five minutes without a message.
    static func advised(for apps: [Contract.App]) -> EventForm {
        let audience = apps.first.map { "\($0.bundleId) production \(Contract.StoragePolicy.noMessageStored.rawValue)" }
        return EventForm(
            fields: FormFields([
                .init(name: "kind", value: "match"), .init(name: "defaults.staleAfter", value: "300"),
                .init(name: "defaults.expiresIn", value: "1800"), .init(name: "audiences", value: audience ?? ""),
            ]))
    }

    /// The key, and the body of `PUT /v1/events/{key}`.
    ///
    /// - Throws: `invalid-request` with the fields that cannot be written into it.
    func declaration() throws(Problem) -> (key: EventKey, body: [UInt8]) {
        var faults: [FieldError] = []
        var simple = JSONWriter()
        _ = Contract.EventDraft.shape.write(fields, without: Self.hidden, to: &simple)
        var members: [(name: String, value: [UInt8])] = []
        for part in [try? JSONValue(decoding: simple.bytes), further(&faults)] {
            guard case .object(let all)? = part?.kind else { continue }
            for member in all where member.name == "audiences" || members.contains(where: { $0.name == member.name }) {
                faults.append(.init(pointer: "more", detail: "\(member.name) has a field of its own above."))
            }
            members += all.map { ($0.name, $0.value.bytes) }
        }
        let bytes = JSONWriter.text { object in
            for member in members {
                object.name(dynamic: member.name)
                object.raw(member.value)
            }
            object.name("audiences")
            object.array(audienceLines(&faults)) { writer, audience in writer.raw(audience) }
        }
        let key = EventKey(rawValue: fields["key"] ?? "")
        if key == nil { faults.append(.init(pointer: "key", detail: EventKey.rule)) }
        guard let key, faults.isEmpty else { throw FormRefusal.problem(faults) }
        return (key, bytes)
    }

    private func audienceLines(_ faults: inout [FieldError]) -> [[UInt8]] {
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
            lines.append(
                JSONWriter.text { object in
                    object.member("bundleId", words[0])
                    object.member("environment", words[1])
                    object.member("storagePolicy", words[2])
                    if words.count > 3 { object.member("variant", words[3]) }
                })
        }
        return lines
    }

    private func further(_ faults: inout [FieldError]) -> JSONValue? {
        guard !more.isEmpty else { return nil }
        do throws(Problem) {
            let value = try JSONValue(parsing: Array(more.utf8))
            if case .object = value.kind { return value }
            faults.append(.init(pointer: "more", detail: "An object was expected, not \(value.kindName)."))
        } catch {
            faults.append(.init(pointer: "more", detail: error.detail))
        }
        return nil
    }
}
