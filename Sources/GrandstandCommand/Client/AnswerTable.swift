internal import Grandstand

/// An answer for people: a list as a table, a single thing as names and values.
struct AnswerTable {
    let text: String

    /// - Parameter columns: names of members; `channel.state` is a member of a member.
    init(_ answer: JSONValue, columns: [String]) {
        if case .array(let items)? = answer["items"]?.kind {
            let rows = items.map { item in columns.map { item.cell(at: $0) } }
            var lines = Self.lines([columns] + rows)
            if case .string(let cursor)? = answer["nextCursor"]?.kind { lines.append("more: --cursor \(cursor)") }
            text = lines.joined(separator: "\n")
        } else if case .object(let members) = answer.kind {
            text = Self.lines(members.map { [$0.name, $0.value.cell] }).joined(separator: "\n")
        } else {
            text = answer.cell
        }
    }

    private static func lines(_ rows: [[String]]) -> [String] {
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
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = kind else { return nil }
        return members.first { $0.name == name }?.value
    }

    fileprivate func cell(at path: String) -> String {
        path.split(separator: ".").reduce(Optional(self)) { $0?[String($1)] }?.cell ?? ""
    }

    /// What stands in a table: texts without quotes, `-` for nothing, everything else as JSON.
    fileprivate var cell: String {
        switch kind {
        case .null: "-"
        case .string(let text): text
        case .bool, .number, .array, .object: String(decoding: bytes, as: UTF8.self)
        }
    }
}
