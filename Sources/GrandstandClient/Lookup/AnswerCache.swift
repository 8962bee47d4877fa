public import Foundation

/// A folder in which lookups are kept, one file each. An app and its extensions may share one: files are replaced whole,
/// and one that cannot be read is as none.
public struct AnswerCache: Sendable {
    let folder: URL
    let maximumFiles: Int
    let maximumBytes: Int
    let longestStale: TimeInterval

    /// - Parameters:
    ///   - folder: made when it is needed; nothing else may be in it.
    ///   - maximumFiles: after which the oldest go.
    ///   - maximumBytes: of all files together.
    ///   - longestStale: how old, in seconds, an answer may be that is given while the server cannot be asked. Whatever this says,
    ///     none is given past its event's `endsAt`.
    public init(
        folder: URL, maximumFiles: Int = 200, maximumBytes: Int = 4 << 20, longestStale: TimeInterval = 12 * 3_600
    ) {
        self.folder = folder
        self.maximumFiles = maximumFiles
        self.maximumBytes = maximumBytes
        self.longestStale = longestStale
    }

    /// In the user's folder for caches.
    public static var standard: AnswerCache {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        return AnswerCache(
            folder: (caches ?? FileManager.default.temporaryDirectory).appendingPathComponent("dev.grandstand.lookups"))
    }

    package func answer(to address: String) -> CachedAnswer? {
        guard let data = try? Data(contentsOf: file(address)) else { return nil }
        guard let answer = try? JSONDecoder().decode(CachedAnswer.self, from: data) else {
            remove(address)
            return nil
        }
        return answer.address == address ? answer : nil
    }

    /// What cannot be written is not kept: a full disk fails no lookup.
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

    /// Takes the oldest files away until the rest is within the bounds.
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
