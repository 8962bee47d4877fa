@testable internal import GrandstandServer

extension Table {
    /// The texts of a column, row by row.
    func texts(_ label: String) -> [String] {
        rows.map { row in
            (row.cells.first { $0.label == label }?.pieces ?? []).map(\.text).joined(separator: " ")
        }
    }
}

extension Piece {
    /// The text that the page shows.
    var text: String {
        switch self {
        case .words(let text), .line(let text), .quoted(let text), .code(let text), .state(let text): text
        case .link(let link): link.moment?.text ?? link.label
        case .time(let moment): moment.text
        case .level(let level): level.text
        case .bar(let bar): bar.barText
        }
    }
}
