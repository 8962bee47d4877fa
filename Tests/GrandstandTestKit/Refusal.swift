package import Testing

/// A request and the refusal that it must get: one row of a table of test cases.
package struct Refusal: Sendable, CustomStringConvertible {
    package let description: String
    package let method: String
    package let path: String
    package let body: [UInt8]?
    package let headers: [String: String]
    private let status: Int
    private let slug: String
    private let pointers: [String]
    private let hint: String

    /// - Parameters:
    ///   - bytes: used instead of `body`, for a body that is not text.
    ///   - slug: the last part of the problem's `type`.
    ///   - pointers: the fields that the answer must name; it may name others, too.
    ///   - hint: a text that the answer must contain.
    package init(
        _ description: String, _ method: String, _ path: String, _ body: String? = nil, bytes: [UInt8]? = nil,
        headers: [String: String] = [:], status: Int = 422, slug: String = "invalid-request", pointers: [String] = [],
        hint: String = ""
    ) {
        self.description = description
        self.method = method
        self.path = path
        self.body = bytes ?? body.map { Array($0.utf8) }
        self.headers = headers
        self.status = status
        self.slug = slug
        self.pointers = pointers
        self.hint = hint
    }

    /// Compares an answer with the expected refusal.
    package func expect(
        status: Int, slug: String?, pointers: [String], text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(status == self.status, "\(self): \(text)", sourceLocation: sourceLocation)
        #expect(slug == self.slug, "\(self): \(text)", sourceLocation: sourceLocation)
        #expect(Set(self.pointers).isSubset(of: pointers), "\(self): \(text)", sourceLocation: sourceLocation)
        #expect(hint.isEmpty || text.contains(hint), "\(self): \(text)", sourceLocation: sourceLocation)
    }
}
