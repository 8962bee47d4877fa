package import FoundationEssentials

/// A request for one page of a list.
package struct PageRequest: Sendable, Hashable {
    /// 1 to 200.
    package var limit: Int
    /// The position after the previous page; opaque to callers.
    package var cursor: String?

    package init(limit: Int = 50, cursor: String? = nil) {
        self.limit = limit
        self.cursor = cursor
    }

    /// The error for an invalid cursor.
    package static let cursorProblem = Problem.invalid(
        "Use nextCursor of the previous page as it came.", at: "cursor", "This is not a cursor of this list.")
}

/// Where a page ended: a number or a time in microseconds, and a key that tells apart items with the same number or
/// time. Callers do not interpret a cursor.
package struct PageCursor: Sendable {
    package let sortNumber: Int
    package let key: String

    /// Microseconds since 1970 until the year 9999. PostgreSQL refuses times far beyond it.
    package static let most = 253_402_300_799_999_999

    /// Reads a cursor that one of the `text` functions wrote.
    ///
    /// - Throws: `invalid-request` for anything else.
    package init(_ text: String) throws(Problem) {
        guard let bytes = Data(base64Encoded: text), let plain = String(data: bytes, encoding: .utf8),
            let separator = plain.firstIndex(of: " "), let number = Int(plain[..<separator]),
            0...Self.most ~= number, !plain.contains("\0")
        else { throw PageRequest.cursorProblem }
        self.sortNumber = number
        key = String(plain[plain.index(after: separator)...])
    }

    package static func text(_ number: Int, _ key: String) -> String {
        Data("\(number) \(key)".utf8).base64EncodedString()
    }

    package static func text(_ date: Date, _ key: String) -> String { text(micros(date), key) }

    /// The number of a time.
    package static func micros(_ date: Date) -> Int {
        Int(min(max((date.timeIntervalSince1970 * 1_000_000).rounded(), 0), Double(most)))
    }

    package var date: Date { Date(timeIntervalSince1970: Double(sortNumber) / 1_000_000) }
}
