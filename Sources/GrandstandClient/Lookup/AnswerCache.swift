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
        prune()
    }

    package func remove(_ address: String) { try? FileManager.default.removeItem(at: file(address)) }

    private func file(_ address: String) -> URL {
        folder.appendingPathComponent(FNV1a.name(of: address) + ".json", isDirectory: false)
    }

    /// Deletes the oldest files until the rest is within the limits.
    private func prune() {
        let manager = FileManager.default
        let urls = (try? manager.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let files = urls.map { url in
            let attributes = try? manager.attributesOfItem(atPath: url.path)
            return (
                url: url, at: attributes?[.modificationDate] as? Date ?? .distantPast,
                size: (attributes?[.size] as? NSNumber)?.intValue ?? 0
            )
        }
        var count = files.count
        var size = files.reduce(0) { $0 + $1.size }
        guard count > maximumFiles || size > maximumBytes else { return }
        for file in files.sorted(by: { $0.at < $1.at }) where count > maximumFiles || size > maximumBytes {
            try? manager.removeItem(at: file.url)
            count -= 1
            size -= file.size
        }
    }
}
