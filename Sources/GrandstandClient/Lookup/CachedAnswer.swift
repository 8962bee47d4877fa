package import Foundation

/// A stored answer, and the rules for how long it may be used (RFC 9111).
package struct CachedAnswer: Sendable, Hashable, Codable {
    /// The address of the request. Whoever reads the cache must compare it, because two addresses may have the same
    /// file name.
    package var address: String
    package var entityTag: String?
    package var body: Data
    /// When the server gave the answer, by this machine's clock.
    package var asOf: Date
    /// Seconds for which the answer may be used without asking the server.
    package var maxAge: Int

    /// - Returns: `nil` if the answer may not be stored.
    package init?(_ answer: GrandstandClient.Answer, to address: String, at now: Date) {
        let rules = Self.directives(answer.headers["cache-control"] ?? "")
        guard answer.status == 200, rules["no-store"] == nil else { return nil }
        self.address = address
        entityTag = answer.entityTag
        body = answer.body
        asOf = now.addingTimeInterval(-Double(answer.headers["age"].flatMap { Int($0) }.map { max(0, $0) } ?? 0))
        maxAge = rules["no-cache"] == nil ? rules["max-age"].flatMap { Int($0) } ?? 0 : 0
    }

    /// The same answer after a 304 has confirmed it.
    package func confirmed(by answer: GrandstandClient.Answer, at now: Date) -> CachedAnswer {
        let fresh = GrandstandClient.Answer(status: 200, headers: answer.headers, body: body)
        guard var confirmed = CachedAnswer(fresh, to: address, at: now) else { return self }
        confirmed.entityTag = answer.entityTag ?? entityTag
        return confirmed
    }

    /// Whether the answer may be used without asking the server. If the clock was set back, the age is unknown, so the
    /// answer is not fresh.
    package func isFresh(at now: Date) -> Bool { (0..<Double(maxAge)).contains(now.timeIntervalSince(asOf)) }

    /// The directives of `Cache-Control`, with names in lower case.
    private static func directives(_ text: String) -> [String: String] {
        var directives: [String: String] = [:]
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard let name = pair.first else { continue }
            directives[name.lowercased()] = pair.count == 2 ? pair[1].trimmingCharacters(in: ["\""]) : ""
        }
        return directives
    }
}
