package import Grandstand
internal import JSON

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

extension ContentPreview {
    /// Why a text is no template; `nil`: it is one, or there is none.
    package static func fault(in text: String?) -> String? {
        do throws(PreviewTemplate.Fault) {
            _ = try text.map { text throws(PreviewTemplate.Fault) in try PreviewTemplate(text) }
            return nil
        } catch {
            return "This is no Mustache template: \(error.description)"
        }
    }
}
