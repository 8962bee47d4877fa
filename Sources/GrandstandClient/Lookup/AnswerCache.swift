public import Foundation

/// A folder with stored answers to lookups, one file for each. An app and its extensions may share it: files are
/// replaced atomically, and a file that cannot be read is ignored.
public struct AnswerCache: Sendable {
    let folder: URL
    let maximumFiles: Int
    let maximumBytes: Int
    let longestStale: TimeInterval

    /// - Parameters:
    ///   - folder: created when it is needed; it must contain nothing else.
    ///   - maximumFiles: beyond this number the oldest files are deleted.
    ///   - maximumBytes: the most bytes of all files together.
    ///   - longestStale: seconds after which an answer is no longer used if the server cannot be asked. In any case, no
    ///     answer is used after its event's `endsAt`.
    public init(
        folder: URL, maximumFiles: Int = 200, maximumBytes: Int = 4 << 20, longestStale: TimeInterval = 12 * 3_600
    ) {
        self.folder = folder
        self.maximumFiles = maximumFiles
        self.maximumBytes = maximumBytes
        self.longestStale = longestStale
    }

    /// The standard cache, in the user's caches folder.
    public static var standard: AnswerCache {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        return AnswerCache(
            folder: (caches ?? FileManager.default.temporaryDirectory).appendingPathComponent("dev.grandstand.lookups"))
    }

    package func answer(to address: String) -> CachedAnswer? {
        let data = try? Data(contentsOf: file(address))
        let answer = data.flatMap { try? JSONDecoder().decode(CachedAnswer.self, from: $0) }
        return answer?.address == address ? answer : nil
    }

    /// Stores an answer. Errors such as a full disk are ignored, so that lookups never fail because of them.
    package func keep(_ answer: CachedAnswer) {
        guard let data = try? JSONEncoder().encode(answer), data.count <= maximumBytes else { return }
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try? data.write(to: file(answer.address), options: .atomic)
        prune(newest: file(answer.address).lastPathComponent)
    }

    package func remove(_ address: String) { try? FileManager.default.removeItem(at: file(address)) }

    private func file(_ address: String) -> URL {
        folder.appendingPathComponent(FNV1a.name(of: address) + ".json", isDirectory: false)
    }

    /// Deletes the oldest files until the rest is within the limits.
    ///
    /// - Parameter newest: the file that was just written. Others may have the same modification date.
    private func prune(newest: String) {
        let manager = FileManager.default
        let urls = (try? manager.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let files = urls.map { url in
            let attributes = try? manager.attributesOfItem(atPath: url.path)
            let modified = attributes?[.modificationDate] as? Date ?? .distantPast
            return (
                url: url, at: url.lastPathComponent == newest ? .distantFuture : modified,
                size: (attributes?[.size] as? NSNumber)?.intValue ?? 0
            )
        }
        var (count, size) = (files.count, files.reduce(0) { $0 + $1.size })
        guard count > maximumFiles || size > maximumBytes else { return }
        for file in files.sorted(by: { $0.at < $1.at }) where count > maximumFiles || size > maximumBytes {
            try? manager.removeItem(at: file.url)
            count -= 1
            size -= file.size
        }
    }
}

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

/// A name for a text: two FNV-1a hashes with different start values.
enum FNV1a {
    static func name(of text: String) -> String {
        let starts: [UInt64] = [0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15]
        let hashes = starts.map { text.utf8.reduce($0) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
        return hashes.map { String($0, radix: 16) }.joined(separator: "-")
    }
}
