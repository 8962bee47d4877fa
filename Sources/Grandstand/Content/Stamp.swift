package import APNsWire
internal import FoundationEssentials
internal import JSON

/// The member of a `contentState` that gets `aps.timestamp` when a message is sent, so that an app knows which message
/// it shows. ActivityKit does not give the app the timestamp.
package struct Stamp: Sendable, Hashable {
    /// How the time is written.
    package enum Form: String, Sendable, Hashable, CaseIterable {
        /// Seconds since 1970.
        case unix
        case iso8601
        /// Seconds since 2001, as Swift's decoder reads a date.
        case reference
    }

    package let member: JSONPointer
    package let form: Form

    package init(member: JSONPointer, form: Form) {
        self.member = member
        self.form = form
    }

    /// No timestamp before the year 2096 has a longer text than this one. Checks of a message's size use it.
    package static let longest = 4_000_000_000

    /// The content with its stamp. Every other byte stays. If the content has no member for the stamp, the member is
    /// added. If the object that the member belongs to is missing, the content stays as it is.
    ///
    /// - Parameters:
    ///   - contentState: JSON object text.
    ///   - timestamp: seconds since 1970.
    package func applied(to contentState: [UInt8], timestamp: Int) -> [UInt8] {
        var parser = JSONParser(contentState)
        guard var value = try? parser.parse() else { return contentState }
        for name in member.names.dropLast() {
            guard let inner = value[name] else { return contentState }
            value = inner
        }
        guard case .object(let members) = value.kind, let name = member.names.last else { return contentState }
        let text = Array(text(of: timestamp).utf8)
        if let present = members.first(where: { $0.name == name })?.value.source {
            return contentState[..<present.startIndex] + text + contentState[present.endIndex...]
        }
        let end = value.source.endIndex - 1
        let separator = members.isEmpty ? "" : ","
        let added = Array("\(separator)\(JSONText.quoted(name)):".utf8) + text
        return contentState[..<end] + added + contentState[end...]
    }

    private func text(of timestamp: Int) -> String {
        switch form {
        case .unix: String(timestamp)
        case .reference: String(timestamp - Int(Date.timeIntervalBetween1970AndReferenceDate))
        case .iso8601: JSONText.quoted(RFC3339.text(Date(timeIntervalSince1970: Double(timestamp))).prefix(19) + "Z")
        }
    }
}

extension Stamp {
    /// One line: the form and the member.
    package var text: String { "\(form.rawValue) \(member)" }

    /// Parses the line that the property `text` writes.
    package init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let form = Form(rawValue: String(parts[0])), let member = JSONPointer(String(parts[1]))
        else { return nil }
        self.init(member: member, form: form)
    }
}

extension BroadcastPayload {
    /// The message as it is sent, with the stamp in its content.
    package func stamped(_ stamp: Stamp?, timestamp: Int) -> BroadcastPayload {
        guard let stamp, let contentState else { return self }
        var payload = self
        payload.contentState = stamp.applied(to: contentState, timestamp: timestamp)
        return payload
    }
}
