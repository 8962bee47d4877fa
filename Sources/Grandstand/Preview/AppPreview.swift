/// How people see a content of an app's: as it is on a lock screen at a glance, and with more room.
package struct AppPreview: Sendable, Hashable {
    /// A line.
    package var compact: PreviewTemplate?
    /// Some lines; `nil`: the compact one does.
    package var expanded: PreviewTemplate?

    package init(compact: PreviewTemplate? = nil, expanded: PreviewTemplate? = nil) {
        self.compact = compact
        self.expanded = expanded
    }

    package var isEmpty: Bool { compact == nil && expanded == nil }

    /// A content as text.
    package struct Shown: Sendable, Hashable {
        package var compact: String?
        package var expanded: String?
    }

    /// - Parameter contentState: JSON text; what is none shows as nothing.
    package func shown(_ contentState: [UInt8]?) -> Shown? {
        guard !isEmpty, let contentState, let content = try? JSONValue(parsing: contentState) else { return nil }
        return Shown(compact: compact?.text(of: content), expanded: expanded?.text(of: content))
    }
}

extension AppPreview: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        if let compact { object.member("compact", compact.text) }
        if let expanded { object.member("expanded", expanded.text) }
    }
}

extension AppPreview.Shown: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        if let compact { object.member("compact", compact) }
        if let expanded { object.member("expanded", expanded) }
    }
}

extension JSONFields {
    /// An app's templates; `nil`: it has none.
    package mutating func preview(_ name: String) -> AppPreview? {
        guard var nested = fields(name) else { return nil }
        let preview = AppPreview(compact: nested.template("compact"), expanded: nested.template("expanded"))
        absorb(nested)
        return preview.isEmpty ? nil : preview
    }

    private mutating func template(_ name: String) -> PreviewTemplate? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value.kind else {
            fault(name, "A string was expected, not \(value.kindName).")
            return nil
        }
        // A line's end is all that a template has of control characters.
        guard !text.isEmpty, text.unicodeScalars.allSatisfy({ $0 == "\n" || $0.value >= 0x20 && $0.value != 0x7F })
        else {
            fault(name, "A Mustache template was expected: some text, without control characters but line feeds.")
            return nil
        }
        do throws(PreviewTemplate.Fault) {
            return try PreviewTemplate(text)
        } catch {
            fault(name, "This is no Mustache template: \(error.description)")
            return nil
        }
    }
}
