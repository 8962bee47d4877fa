package import Foundation

/// The record on disk. Whoever changes it reads it first, under a lock: two launches of an app at once draw no sequence
/// twice and forget nothing of each other.
package struct RecordStore: Sendable {
    private let file: URL

    package init(file: URL) { self.file = file }

    /// What a change came to.
    package struct Change<Value> {
        package var record: DeviceRecord
        package var value: Value
        /// Why it is not on disk, e.g. as that is full.
        package var failure: StorageFailure?
    }

    /// Changes the record.
    ///
    /// - Parameter unwritten: the record of a change before that could not be written; it counts, not the file.
    /// - Throws: when the record cannot be read, so that nobody knows what to change; what `body` throws.
    package func change<Value>(
        after unwritten: DeviceRecord? = nil, _ body: (inout DeviceRecord) throws -> Value
    ) throws -> Change<Value> {
        try LockedFile.locked(file) {
            let old = try load()
            var record = unwritten ?? old ?? DeviceRecord()
            let value = try body(&record)
            var failure: StorageFailure?
            if record != old {
                do {
                    let encoder = JSONEncoder()
                    encoder.outputFormatting = [.sortedKeys]
                    try LockedFile.replace(file, with: encoder.encode(record))
                } catch {
                    failure = error as? StorageFailure ?? StorageFailure(detail: "\(error)")
                }
            }
            return Change(record: record, value: value, failure: failure)
        }
    }

    /// A file that is no record is set aside: the server's answer to the first request tells where to go on.
    private func load() throws -> DeviceRecord? {
        guard let data = try LockedFile.read(file) else { return nil }
        if let record = try? JSONDecoder().decode(DeviceRecord.self, from: data) { return record }
        let aside = file.appendingPathExtension("unreadable")
        try? FileManager.default.removeItem(at: aside)
        try FileManager.default.moveItem(at: file, to: aside)
        return nil
    }
}
