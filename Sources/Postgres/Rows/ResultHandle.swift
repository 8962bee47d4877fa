internal import CLibPQ

/// Owns one `PGresult` and clears it exactly once. libpq's results are immutable once complete, so they may be read from
/// any thread.
final class ResultHandle: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQclear(pointer) }

    var rowCount: Int { Int(PQntuples(pointer)) }
    var columnCount: Int { Int(PQnfields(pointer)) }

    /// Rows a command changed, or a query returned.
    var affectedRows: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }

    /// The number of the first column of that name; `nil` when there is none.
    func column(_ name: String) -> Int32? {
        let number = PQfnumber(pointer, name)
        return number < 0 ? nil : number
    }

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
