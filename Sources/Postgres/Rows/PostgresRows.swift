/// The rows of a query's result. Values are decoded when they are read.
package struct PostgresRows: Sendable, RandomAccessCollection {
    private let handle: ResultHandle?

    init(_ handle: ResultHandle?) { self.handle = handle }

    package var startIndex: Int { 0 }
    package var endIndex: Int { handle?.rowCount ?? 0 }

    package subscript(position: Int) -> PostgresRow {
        guard let handle, position >= 0, position < handle.rowCount else {
            preconditionFailure("row \(position) of \(count)")
        }
        return PostgresRow(handle: handle, row: Int32(position))
    }

    /// The number of rows that a command changed, or that a query returned.
    package var affectedRows: Int { handle?.affectedRows ?? 0 }
}

/// One row of a result.
package struct PostgresRow: Sendable {
    let handle: ResultHandle
    let row: Int32

    /// The value of a column by its name.
    ///
    /// - Throws: `PostgresError` of kind `decoding`: there is no such column, the column is NULL and the type has no
    ///   value for NULL, or the column has another type.
    package func decode<Value: PostgresDecodable>(
        _ type: Value.Type = Value.self, _ column: String
    ) throws -> Value {
        guard let value = value(column) else { throw PostgresError(.decoding, "there is no column \(column)") }
        return try value.decode(type)
    }

    /// The value of a column by its name, not decoded yet; `nil`: there is no such column.
    package func value(_ column: String) -> PostgresValue? {
        handle.column(column).map { PostgresValue(handle: handle, row: row, column: $0) }
    }

    /// Whether all columns whose names begin with this text are NULL; `nil`: there are no such columns.
    package func isNull(columnsWithPrefix prefix: String) -> Bool? {
        let columns = (0..<Int32(handle.columnCount)).filter { handle.name($0)?.hasPrefix(prefix) == true }
        return columns.isEmpty ? nil : columns.allSatisfy { handle.isNull(row, $0) }
    }

    /// The value of the only column.
    package func decode<Value: PostgresDecodable>(_ type: Value.Type) throws -> Value {
        guard handle.columnCount == 1 else {
            throw PostgresError(.decoding, "one column was asked for, there are \(handle.columnCount)")
        }
        return try PostgresValue(handle: handle, row: row, column: 0).decode(type)
    }
}

/// The value of one column in one row.
package struct PostgresValue: Sendable {
    let handle: ResultHandle
    let row: Int32
    let column: Int32

    package var isNull: Bool { handle.isNull(row, column) }
    /// Whether the column's type is `type`. An array or an enum has another type than its elements or its text.
    package func has(_ type: PostgresType) -> Bool { handle.type(column) == type.oid }

    /// - Throws: `PostgresError` of kind `decoding`: the value is NULL and the type has no value for NULL, or the column
    ///   has another type.
    package func decode<Value: PostgresDecodable>(_: Value.Type = Value.self) throws -> Value {
        do throws(PostgresError) {
            return try Value.value(column: handle.bytes(row, column), type: handle.type(column))
        } catch {
            throw PostgresError(error.kind, "column \(handle.name(column) ?? "\(column)"): \(error.message)")
        }
    }
}
