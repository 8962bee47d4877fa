internal import Grandstand
internal import HTTPTypes
internal import Hummingbird

/// The version of an object that clients write with PUT, as text for `ETag` and `If-Match`.
///
/// The tag is the version of the declaration and does not change with fields that the server adds, such as the state of
/// a channel. Caches do not rely on the tag, because answers are `no-store`. A proxy that compresses an answer makes its
/// tag weak, or appends the compression's name, although the version is the same. So the answers forbid that
/// (`no-transform`), and both forms are accepted, too.
enum VersionTag {
    static func text(_ version: Int) -> String { "\"\(version)\"" }
}

extension HTTPFields {
    static func version(_ version: Int) -> HTTPFields {
        [.eTag: VersionTag.text(version), .cacheControl: "no-store, no-transform"]
    }
}

extension Request {
    /// The condition that the writer sets for the object.
    ///
    /// - Throws: `invalid-request` for anything except ETags or `*` in `If-Match`, or `*` in `If-None-Match`, and for
    ///   both headers together.
    func writeCondition() throws(Problem) -> WriteCondition {
        switch (headers[.ifMatch], headers[.ifNoneMatch]) {
        case (nil, nil): return .none
        case (let tags?, nil): return try Self.versions(tags)
        case (nil, "*"?): return .absent
        case (nil, _?):
            throw Self.refusal(
                "If-None-Match", "With PUT only If-None-Match: * is allowed: create it only if it does not exist yet.")
        case (_?, _?):
            throw Self.refusal("If-None-Match", "If-Match and If-None-Match exclude each other; send one of them.")
        }
    }

    private static func versions(_ tags: String) throws(Problem) -> WriteCondition {
        if tags == "*" { return .present }
        var versions: Set<Int> = []
        for tag in tags.split(separator: ",") {
            var text = tag.filter { $0 != " " && $0 != "\t" }[...]
            if text.hasPrefix("W/") { text = text.dropFirst(2) }
            guard text.count > 2, text.hasPrefix("\""), text.hasSuffix("\"") else {
                throw refusal("If-Match", "ETags were expected as GET gives them, in quotation marks, or *.")
            }
            let digits = text.dropFirst().dropLast().prefix { $0 != "-" }
            let suffix = text.dropLast()[digits.endIndex...].drop { $0 == "-" }
            // A tag of another server matches nothing.
            if ["", "gzip", "br", "zstd", "deflate"].contains(suffix), let version = Int(digits) {
                versions.insert(version)
            }
        }
        return .versions(versions)
    }

    private static func refusal(_ header: String, _ detail: String) -> Problem {
        Problem.invalid("Correct the header \(header).", at: header, detail)
    }
}
