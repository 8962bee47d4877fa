package import Grandstand
internal import JSON

/// An app's parsed templates, which show its contents to people.
package struct ContentPreview: Sendable {
    private let compact: PreviewTemplate?
    private let expanded: PreviewTemplate?

    /// A template that cannot be parsed shows nothing. An app may still have one from an earlier release.
    package init(_ preview: AppPreview) {
        compact = preview.compact.flatMap { try? PreviewTemplate($0) }
        expanded = preview.expanded.flatMap { try? PreviewTemplate($0) }
    }

    /// A content as plain text.
    package struct Shown: Sendable, Hashable {
        package var compact: String?
        package var expanded: String?
    }

    /// - Parameter contentState: JSON; other text shows nothing.
    package func shown(_ contentState: [UInt8]?) -> Shown? {
        guard compact != nil || expanded != nil, let contentState,
            let content = try? JSONValue(parsing: contentState)
        else { return nil }
        return Shown(compact: compact?.text(of: content), expanded: expanded?.text(of: content))
    }
}

extension ContentPreview {
    /// Why a text is not a template; `nil`: the text is a template, or there is no text.
    package static func fault(in text: String?) -> String? {
        do throws(PreviewTemplate.Fault) {
            _ = try text.map { text throws(PreviewTemplate.Fault) in try PreviewTemplate(text) }
            return nil
        } catch {
            return "This is not a valid template: \(error.description)"
        }
    }
}
