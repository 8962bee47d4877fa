internal import Postgres

/// The columns of a table that are filled from values of one Swift type, each listed once for reading, inserting and
/// changing rows. A test compares each list with its table (`ColumnTests`).
struct Columns<Row>: Sendable {
    final class Column: Sendable {
        let name: String
        /// The SQL expression for the column's value. It reads the bound value from the row `r`, in which it has the
        /// column's name.
        fileprivate let sql: String
        /// Whether the column is written with every row, because the row's present value is not known.
        fileprivate let alwaysSet: Bool
        fileprivate let binding: @Sendable ([Row]) -> PostgresBinding
        fileprivate let allNull: @Sendable ([Row]) -> Bool
        fileprivate let isSame: @Sendable (Row, Row) -> Bool

        /// - Parameters:
        ///   - type: the PostgreSQL type that the parameter is cast to, such as an enumeration.
        ///   - sql: an SQL expression for the value, instead of the cast. In it, the parameter is `r.` and the column's
        ///     name; in updates, `t.` has the present value.
        ///   - alwaysSet: whether the column is written with every row.
        init<Value: PostgresScalarElement & Equatable>(
            _ name: String, _ type: String? = nil, sql: String? = nil, alwaysSet: Bool = false,
            _ value: @escaping @Sendable (Row) -> Value?
        ) {
            self.name = name
            self.sql = sql ?? type.map { "r.\(name)::\($0)" } ?? "r.\(name)"
            self.alwaysSet = alwaysSet
            binding = { PostgresBinding($0.map(value)) }
            allNull = { !$0.isEmpty && $0.allSatisfy { value($0) == nil } }
            isSame = { value($0) == value($1) }
        }
    }

    let table: String
    let key: String
    let columns: [Column]

    init(_ table: String, key: String = "id", _ columns: [Column]) {
        (self.table, self.key, self.columns) = (table, key, columns)
    }

    /// The names of the columns, each with the name of the row in front, if there is one.
    func names(of row: String? = nil, except left: Set<String> = []) -> PostgresQuery {
        let names = columns.map(\.name).filter { !left.contains($0) }
        let all = names.map { name in row.map { "\($0).\(name)" } ?? name }
        return PostgresQuery(unsafeSQL: all.joined(separator: ", "))
    }

    /// The statement that inserts rows, in order. A column that is null in all of the rows is left out.
    func insert(_ rows: [Row]) -> PostgresQuery {
        let filled = columns.filter { !$0.allNull(rows) }
        let names = filled.map(\.name).joined(separator: ", ")
        let parameters = (1...filled.count).map { "$\($0)" }.joined(separator: ", ")
        return PostgresQuery(
            unsafeSQL: """
                insert into \(table) (\(names)) select \(filled.map(\.sql).joined(separator: ", "))
                from unnest(\(parameters)) with ordinality as r(\(names), place)
                order by place
                """, bindings: filled.map { $0.binding(rows) })
    }

    /// Whether a row has not changed, except columns that are written with every row.
    func isSame(_ row: Row, _ before: Row) -> Bool { columns.allSatisfy { $0.alwaysSet || $0.isSame(row, before) } }

    /// The statement that changes rows by their keys. It sets the columns that differ in any of the rows.
    ///
    /// The condition `= any(…)` repeats the IDs, so that even a cached plan from a time when the table was empty reads
    /// by key.
    ///
    /// - Parameter before: the same rows as they were.
    func update(_ rows: [Row], from before: [Row], ids: [Int]) -> PostgresQuery {
        let changed = columns.filter { column in
            column.alwaysSet || rows.indices.contains { !column.isSame(rows[$0], before[$0]) }
        }
        let parameters = changed.indices.map { "$\($0 + 2)" }.joined(separator: ", ")
        return PostgresQuery(
            unsafeSQL: """
                update \(table) t set \(changed.map { "\($0.name) = \($0.sql)" }.joined(separator: ", "))
                from unnest($1, \(parameters)) as r(id, \(changed.map(\.name).joined(separator: ", ")))
                where t.\(key) = r.id and t.\(key) = any($1)
                """, bindings: [PostgresBinding(ids)] + changed.map { $0.binding(rows) })
    }
}
