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
        guard let number = handle.column(column) else {
            throw PostgresError(.decoding, "there is no column \(column)")
        }
        return try handle.decode(type, row: row, column: number)
    }

    /// All columns in order, as a tuple. The number of columns must match.
    package func decode<each Value: PostgresDecodable>(
        _ types: repeat (each Value).Type
    ) throws -> (repeat each Value) {
        var expected = 0
        func tally<One>(_ type: One.Type) { expected += 1 }
        repeat tally(each types)
        guard expected == handle.columnCount else {
            throw PostgresError(.decoding, "\(expected) columns were asked for, there are \(handle.columnCount)")
        }
        var column: Int32 = -1
        func next<One: PostgresDecodable>(_ type: One.Type) throws -> One {
            column += 1
            return try handle.decode(type, row: row, column: column)
        }
        return try (repeat next(each types))
    }
}
