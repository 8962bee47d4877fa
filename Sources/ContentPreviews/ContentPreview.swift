package import Grandstand
package import JSON

/// An app's templates, read, to show people its contents.
package struct ContentPreview: Sendable {
    private let compact: PreviewTemplate?
    private let expanded: PreviewTemplate?

    /// Templates that cannot be read, as an app may have of an earlier release, show nothing.
    package init(_ preview: AppPreview) {
        compact = preview.compact.flatMap { try? PreviewTemplate($0) }
        expanded = preview.expanded.flatMap { try? PreviewTemplate($0) }
    }

    /// A content as text.
    package struct Shown: Sendable, Hashable {
        package var compact: String?
        package var expanded: String?
    }

    /// - Parameter contentState: JSON text; what is none shows as nothing.
    package func shown(_ contentState: [UInt8]?) -> Shown? {
        guard compact != nil || expanded != nil, let contentState,
            let content = try? JSONValue(parsing: contentState)
        else { return nil }
        return Shown(compact: compact?.text(of: content), expanded: expanded?.text(of: content))
    }
}

extension ContentPreview.Shown: JSONObjectWritable {
    package func write(members object: inout JSONWriter) {
        if let compact { object.member("compact", compact) }
        if let expanded { object.member("expanded", expanded) }
    }
}

extension JSONFields {
    /// An app's templates, each with a fault where it cannot be read; `nil`: it has none.
    package mutating func preview(_ name: String) -> AppPreview? {
        guard var nested = fields(name) else { return nil }
        let preview = AppPreview(compact: nested.template("compact"), expanded: nested.template("expanded"))
        absorb(nested)
        return preview.isEmpty ? nil : preview
    }

    private mutating func template(_ name: String) -> String? {
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
            _ = try PreviewTemplate(text)
            return text
        } catch {
            fault(name, "This is no Mustache template: \(error.description)")
            return nil
        }
    }
}
