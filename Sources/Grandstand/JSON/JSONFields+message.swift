package import JSON

// What messages and starts have in common.

extension JSONFields {
    /// The alert of an update, which may have none.
    package mutating func alert() -> [UInt8]? {
        guard let value = value("alert") else { return nil }
        return alert(value, at: pointer(to: "alert"), advice: "Leave alert out for an update that does not alert.")
    }

    /// The alert of a start, without which Apple starts nothing.
    package mutating func alertOfStart() -> [UInt8]? {
        guard let value = value("alert", required: true) else { return nil }
        return alert(value, at: pointer(to: "alert"), advice: "Apple starts no activity without one.")
    }

    /// An alert as it was written: `title` and `body` are strings or localised; `sound` is a file's name. Nothing else is
    /// Apple's. With neither text there is nothing to show.
    ///
    /// - Parameter advice: what else one can do about an alert that shows nothing.
    package mutating func alert(_ value: JSONValue, at pointer: String, advice: String) -> [UInt8] {
        var alert = JSONFields(value, pointer: pointer)
        let texts = [alert.localizedText("title"), alert.localizedText("body")]
        _ = alert.text("sound")
        if case .object = value.kind, !texts.contains(true) {
            fault(at: pointer, "An alert has a title or a body. \(advice)")
        }
        absorb(alert)
        return value.bytes
    }

    /// - Returns: whether there is something to show, or a fault that says so.
    private mutating func localizedText(_ name: String) -> Bool {
        guard let value = value(name) else { return false }
        switch value.kind {
        case .string(let text): return !text.isEmpty
        case .object:
            var localized = JSONFields(value, pointer: pointer(to: name))
            _ = localized.text("loc-key", required: true, maximum: 1_000)
            for (argument, _) in localized.array("loc-args", count: 0...64) ?? [] {
                guard case .string = argument.kind else {
                    localized.fault("loc-args", "Strings were expected.")
                    break
                }
            }
            absorb(localized)
        default:
            fault(name, "A string or an object with loc-key and loc-args was expected.")
        }
        return true
    }

    /// A list of audiences; `nil`: none was given.
    package mutating func selectors(_ name: String) -> [AudienceSelector]? {
        guard let elements = array(name, count: 1...1_000) else { return nil }
        var selectors: [AudienceSelector] = []
        for (value, pointer) in elements {
            var nested = JSONFields(value, pointer: pointer)
            if let selector = AudienceSelector.read(&nested) { selectors.append(selector) }
            absorb(nested)
        }
        return selectors
    }

    /// What some variants get instead of the rest of the message.
    package mutating func byVariant() -> [Variant: BroadcastContent.Override] {
        guard let value = value("byVariant") else { return [:] }
        guard case .object(let members) = value.kind else {
            fault("byVariant", "An object of contents and alerts by variant was expected, not \(value.kindName).")
            return [:]
        }
        var byVariant: [Variant: BroadcastContent.Override] = [:]
        for member in members {
            let pointer = pointer(to: "byVariant") + JSONText.pointer([member.name])
            guard let variant = Variant(rawValue: member.name) else {
                fault(at: pointer, Variant.rule)
                continue
            }
            var nested = JSONFields(member.value, pointer: pointer)
            let override = BroadcastContent.Override(
                contentState: nested.object("contentState"), alert: nested.alert())
            absorb(nested)
            byVariant[variant] = override
        }
        return byVariant
    }

    /// Alerts by BCP 47 tags, as they were written.
    ///
    /// - Parameter advice: what else one can do about an alert that shows nothing.
    package mutating func alertsByLocale(advice: String) -> [String: [UInt8]] {
        guard let value = value("alertsByLocale") else { return [:] }
        guard case .object(let members) = value.kind else {
            fault("alertsByLocale", "An object of alerts by BCP 47 tags was expected, not \(value.kindName).")
            return [:]
        }
        var alerts: [String: [UInt8]] = [:]
        var seen: Set<String> = []
        for (tag, alert) in members {
            let pointer = pointer(to: "alertsByLocale") + JSONText.pointer([tag])
            if !Self.isTag(tag) { fault(at: pointer, "A BCP 47 tag such as de or pt-BR was expected.") }
            if !seen.insert(tag.lowercased()).inserted {
                fault(at: pointer, "This tag stands twice; case does not tell tags apart.")
            }
            alerts[tag] = self.alert(alert, at: pointer, advice: advice)
        }
        return alerts
    }

    /// As much of RFC 5646 as tells a tag from other text: a language of letters, then subtags of up to eight.
    private static func isTag(_ text: String) -> Bool {
        guard text.utf8.count <= 64, !text.isEmpty else { return false }
        let subtags = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return subtags.enumerated().allSatisfy { place, subtag in
            (place == 0 ? 2...8 : 1...8).contains(subtag.count)
                && subtag.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                    case UInt8(ascii: "0")...UInt8(ascii: "9"): place > 0
                    default: false
                    }
                }
        }
    }
}
