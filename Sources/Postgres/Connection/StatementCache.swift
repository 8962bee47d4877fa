/// The prepared statements of one connection, by text and parameter types. The least recently used ones are removed
/// first.
struct StatementCache {
    struct Key: Hashable {
        let sql: String
        let types: [UInt32]

        init(_ query: PostgresQuery) {
            sql = query.sql
            types = query.bindings.map(\.type.oid)
        }
    }

    private struct Entry {
        let name: String
        var lastUse: Int
    }

    private var entries: [Key: Entry] = [:]
    private var uses = 0
    private var names = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { entries.count }

    /// The statement's name, if it is prepared.
    mutating func name(of key: Key) -> String? {
        uses += 1
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].lastUse = uses
        return entries.values[index].name
    }

    /// Adds a statement that is about to be prepared, and returns its name.
    mutating func add(_ key: Key) -> String {
        names += 1
        uses += 1
        let name = "g\(names)"
        entries[key] = Entry(name: name, lastUse: uses)
        return name
    }

    mutating func remove(_ key: Key) { entries[key] = nil }

    mutating func removeAll() { entries = [:] }

    /// Removes statements until the rest is within the capacity. Returns the names that must be deallocated.
    mutating func evict() -> [String] {
        guard entries.count > capacity else { return [] }
        let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(entries.count - capacity)
        for (key, _) in oldest { entries[key] = nil }
        return oldest.map(\.value.name)
    }
}
