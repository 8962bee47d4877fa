internal import JSON

/// An answer as text for people. A list becomes a table. A single resource becomes names and values, with a table for
/// each of its lists.
struct AnswerTable {
    let text: String

    /// - Parameters:
    ///   - columns: the names of members; `channel.state` is a member of the member `channel`.
    ///   - width: the terminal's width; `nil`: lines may have any length.
    init(_ answer: JSONValue, columns: [String], width: Int? = nil) {
        guard case .object(let members) = answer.kind else {
            text = answer.cell
            return
        }
        var lines: [String]
        if !columns.isEmpty, let items = answer["items"]?.elements {
            lines = Self.table(items, columns, width)
            if let cursor = answer["nextCursor"]?.string { lines.append("more: --cursor \(cursor)") }
        } else {
            lines = Self.lines(
                members.filter { $0.value.objects == nil }.flatMap { $0.value.rows(named: $0.name) })
        }
        // Other lists of the answer follow, such as `missing`.
        for member in members where member.name != "items" || columns.isEmpty {
            guard let things = member.value.objects else { continue }
            lines += ["", "\(member.name):"]
            lines += Self.table(things, things.columns, width.map { $0 - 2 }).map { "  " + $0 }
        }
        text = lines.joined(separator: "\n")
    }

    /// A table. If it is wider than the terminal, the entries are listed below each other instead.
    private static func table(_ items: [JSONValue], _ columns: [String], _ width: Int?) -> [String] {
        let lines = lines([columns] + items.map { item in columns.map { item.cell(at: $0) } })
        guard let width, lines.contains(where: { $0.count > width }) else { return lines }
        let entries = items.map { item in
            Self.lines(columns.map { [$0, item.cell(at: $0)] }.filter { $0[1] != "-" && !$0[1].isEmpty })
        }
        return Array(entries.joined(separator: [""]))
    }

    /// Rows with cells of equal width.
    static func lines(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map(\.escapingControls) }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let padded = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            return String(padded.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension JSONValue {
    /// The elements of a non-empty list of objects; `nil` for any other value.
    fileprivate var objects: [JSONValue]? {
        guard let elements, !elements.isEmpty else { return nil }
        let areObjects = elements.allSatisfy { if case .object = $0.kind { true } else { false } }
        return areObjects ? elements : nil
    }

    /// Rows of name and value. An object has one row for each member.
    fileprivate func rows(named name: String) -> [[String]] {
        guard case .object(let members) = kind, !members.isEmpty else { return [[name, cell]] }
        return members.flatMap { $0.value.rows(named: "\(name).\($0.name)") }
    }

    fileprivate func cell(at path: String) -> String {
        path.split(separator: ".").reduce(Optional(self)) { $0?[String($1)] }?.cell ?? ""
    }

    /// The text of a table cell: strings without quotes, `-` for null, other values as JSON.
    fileprivate var cell: String {
        switch kind {
        case .null: "-"
        case .array(let elements) where elements.isEmpty: "-"
        case .object(let members) where members.isEmpty: "-"
        case .string(let text): text
        case .bool, .number, .array, .object: String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension [JSONValue] {
    /// The columns for which at least one of these objects has a value, in the order in which they first occur. The
    /// members of a nested object are separate columns.
    fileprivate var columns: [String] {
        var columns: [String] = []
        for element in self {
            guard case .object(let members) = element.kind else { continue }
            for member in members {
                for cell in member.value.rows(named: member.name) where cell[1] != "-" && !columns.contains(cell[0]) {
                    columns.append(cell[0])
                }
            }
        }
        return columns
    }
}
