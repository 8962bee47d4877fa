package import Foundation

/// The record on disk. Every change first reads the record, under a lock. So two processes of an app never use the same
/// sequence, and never overwrite each other's changes.
package struct RecordStore: Sendable {
    private let file: URL

    package init(file: URL) { self.file = file }

    /// The result of a change.
    package struct Change<Value> {
        package var record: DeviceRecord
        package var value: Value
        /// Why the record was not written, e.g. because the disk is full; `nil`: the record was written.
        package var failure: StorageFailure?
    }

    /// Changes the record.
    ///
    /// - Parameter unwritten: the record after an earlier change that could not be written. This record replaces the
    ///   file's content.
    /// - Throws: an error if the record cannot be read; the errors of `body`.
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

    /// A file that is not a record is moved aside. The lost sequence does no harm: the server's answer to the first
    /// request says which sequence to continue from.
    private func load() throws -> DeviceRecord? {
        guard let data = try LockedFile.read(file) else { return nil }
        if let record = try? JSONDecoder().decode(DeviceRecord.self, from: data) { return record }
        let aside = file.appendingPathExtension("unreadable")
        try? FileManager.default.removeItem(at: aside)
        try FileManager.default.moveItem(at: file, to: aside)
        return nil
    }
}
