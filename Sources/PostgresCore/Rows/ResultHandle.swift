internal import CLibPQ

/// Owns one `PGresult` and clears it exactly once. libpq's results are immutable once complete, so they may be read from
/// any thread.
final class ResultHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    /// Column numbers by name; the first of several columns of one name wins.
    let columns: [String: Int32]

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        var columns: [String: Int32] = [:]
        for number in 0..<PQnfields(pointer) {
            guard let name = PQfname(pointer, number) else { continue }
            columns[String(cString: name), default: number] = min(columns[String(cString: name)] ?? number, number)
        }
        self.columns = columns
    }

    deinit { PQclear(pointer) }

    var rowCount: Int { Int(PQntuples(pointer)) }
    var columnCount: Int { Int(PQnfields(pointer)) }

    /// Rows a command changed, or a query returned.
    var affectedRows: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }

    func decode<Value: PostgresDecodable>(
        _ type: Value.Type, row: Int32, column: Int32
    ) throws(PostgresError) -> Value {
        if PQgetisnull(pointer, row, column) == 1 {
            guard let null = Value.null else {
                throw named(PostgresError(.decoding, "NULL cannot be read as \(Value.self)"), column)
            }
            return null
        }
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(pointer, row, column), count: Int(PQgetlength(pointer, row, column)))
        do {
            return try Value(decoding: bytes, type: PQftype(pointer, column))
        } catch {
            throw named(error, column)
        }
    }

    private func named(_ error: PostgresError, _ column: Int32) -> PostgresError {
        var error = error
        let name = PQfname(pointer, column).map { String(cString: $0) } ?? "\(column)"
        error.column = name
        error.message = "column \(name): \(error.message)"
        return error
    }
}
