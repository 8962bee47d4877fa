internal import Grandstand
internal import GrandstandContract
internal import JSON

/// A content in one line: as the app's template shows it, else its members.
struct ContentLine: Sendable, Equatable {
    struct Member: Sendable, Equatable {
        let memberName: String
        let memberValue: String
        let isChanged: Bool
    }

    let lineText: String?
    /// Empty if there is a template. The changed members come first, so that the end of a long line can be cut off.
    let members: [Member]

    /// - Parameter before: the content before it; `nil`: no member counts as changed.
    init(_ content: [UInt8], _ preview: ContentPreview?, since before: [UInt8]? = nil) {
        lineText = preview?.shown(content).flatMap { $0.compact ?? $0.expanded }
        guard lineText == nil, case .object(let all)? = (try? JSONValue(parsing: content))?.kind else {
            members = []
            return
        }
        let old = before.flatMap { try? JSONValue(parsing: $0) }
        let members = all.prefix(20).map { member in
            Member(
                memberName: member.name,
                memberValue: String((member.value.string ?? ReadableJSON.line(member.value.bytes)).prefix(60)),
                isChanged: old != nil && old?[member.name]?.compact != member.value.compact)
        }
        self.members = members.filter(\.isChanged) + members.filter { !$0.isChanged }
    }
}
