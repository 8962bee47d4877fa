internal import Grandstand
internal import GrandstandContract
internal import JSON

/// An app's parsed templates, which show its contents to people.
struct ContentPreview: Sendable {
    private let compact: PreviewTemplate?
    private let expanded: PreviewTemplate?

    /// A template that cannot be parsed shows nothing. An app may still have one from an earlier release.
    init(_ preview: Contract.AppPreview) {
        compact = preview.compact.flatMap { try? PreviewTemplate($0) }
        expanded = preview.expanded.flatMap { try? PreviewTemplate($0) }
    }

    /// A content as plain text.
    ///
    /// - Parameter contentState: JSON; other text shows nothing.
    func shown(_ contentState: [UInt8]?) -> Contract.RenderedPreview? {
        guard compact != nil || expanded != nil, let contentState,
            let content = try? JSONValue(parsing: contentState)
        else { return nil }
        return Contract.RenderedPreview(compact: compact?.text(of: content), expanded: expanded?.text(of: content))
    }
}

extension ContentPreview {
    /// Why a text is not a template; `nil`: the text is a template, or there is no text.
    static func fault(in text: String?) -> String? {
        do throws(PreviewTemplate.Fault) {
            _ = try text.map { text throws(PreviewTemplate.Fault) in try PreviewTemplate(text) }
            return nil
        } catch {
            return "This is not a valid template: \(error.description)"
        }
    }
}
