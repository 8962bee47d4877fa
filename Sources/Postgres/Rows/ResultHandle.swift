internal import CLibPQ
internal import Synchronization

/// Owns one `PGresult` and clears it once. A complete result of libpq never changes, so any thread may read it.
final class ResultHandle: @unchecked Sendable {
    private let pointer: OpaquePointer
    /// The column that is probably read next, because rows are usually read from left to right.
    private let nextColumn = Atomic<Int32>(0)

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQclear(pointer) }

    var rowCount: Int { Int(PQntuples(pointer)) }
    var columnCount: Int { Int(PQnfields(pointer)) }

    /// The number of rows that a command changed, or that a query returned.
    var affectedRows: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }

    /// The index of the first column with this name; `nil`: there is none.
    ///
    /// The column after the last one that was asked for is tried first: a search each time took a tenth of the server's
    /// time in a burst. `PQfnumber` would look for the name in lower case.
    func column(_ name: String) -> Int32? {
        let likely = nextColumn.load(ordering: .relaxed)
        let count = PQnfields(pointer)
        guard let number = isNamed(likely, name) ? likely : (0..<count).first(where: { isNamed($0, name) }) else {
            return nil
        }
        nextColumn.store(number + 1 < count ? number + 1 : 0, ordering: .relaxed)
        return number
    }

    private func isNamed(_ column: Int32, _ name: String) -> Bool {
        guard let text = PQfname(pointer, column) else { return false }
        var name = name
        return name.withUTF8 { name in
            for (index, byte) in name.enumerated() where UInt8(bitPattern: text[index]) != byte { return false }
            return text[name.count] == 0
        }
    }

    func isNull(_ row: Int32, _ column: Int32) -> Bool { PQgetisnull(pointer, row, column) != 0 }

    /// The OID of the column's type.
    func type(_ column: Int32) -> UInt32 { PQftype(pointer, column) }

    func name(_ column: Int32) -> String? { PQfname(pointer, column).map { String(cString: $0) } }

    /// The value's bytes; `nil` for NULL.
    func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer? {
        guard !isNull(row, column) else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(pointer, row, column), count: Int(PQgetlength(pointer, row, column)))
    }
}
