package import APNsWire
package import FoundationEssentials

/// Everything that lookups say of one event, packed into one allocation: the key, then a line for each audience.
///
///     block: length of key (1), key, lines
///     line:  length of topic (1), topic, environment (1), kind (1); for `found` also
///            start in µs since 1970 (8), tag while scheduled (8), tag while live (8),
///            length of head (2), length of tail (2), head, tail
///
/// An object with its fields would take three times as much, and 200,000 events are to be held twice while everything is
/// read anew.
package struct LookupBlock: Sendable {
    package private(set) var bytes: [UInt8]

    private enum Kind {
        static let found: UInt8 = 0
        static let pending: UInt8 = 1
        static let over: UInt8 = 2
    }

    /// The bytes of a `found` line after its kind, head and tail excepted.
    private static let fixed = 28

    /// Packs what the records say, whatever the time.
    package init(_ key: EventKey, _ records: [LookupRecord]) {
        bytes = [UInt8(key.rawValue.utf8.count)]
        bytes += key.rawValue.utf8
        for record in records { append(record, of: key) }
        // It grew by doubling; what is kept has no room to spare.
        bytes = bytes.withUnsafeBytes { Array($0) }
    }

    private mutating func append(_ record: LookupRecord, of key: EventKey) {
        bytes.append(UInt8(truncatingIfNeeded: record.topic.utf8.count))
        bytes += record.topic.utf8
        bytes.append(record.environment.code)
        if record.endedAt != nil || record.cancelledAt != nil { return bytes.append(Kind.over) }
        if record.channelID == nil { return bytes.append(Kind.pending) }
        bytes.append(Kind.found)
        let live = JSONWriter.text(record.entry(for: key, state: .live))
        let scheduled = JSONWriter.text(record.entry(for: key, state: .scheduled))
        // Both texts begin alike and end alike; between them stands the state.
        let head = zip(live, scheduled).prefix { $0 == $1 }.count
        let tail = live[(head + LookupBody.Middle.live.text.utf8CodeUnitCount)...]
        append(record.liveSince)
        append(EntityTag(of: scheduled).hash)
        append(EntityTag(of: live).hash)
        append(UInt16(truncatingIfNeeded: head))
        append(UInt16(truncatingIfNeeded: tail.count))
        bytes += live[..<head]
        bytes += tail
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value) { bytes += $0 }
    }

    /// Whether the block is the event's with this key.
    static func isBlock(_ block: [UInt8], of key: UnsafeRawBufferPointer) -> Bool {
        block.withUnsafeBytes { block in
            guard block.count > key.count, Int(block[0]) == key.count else { return false }
            return UnsafeRawBufferPointer(rebasing: block[1...key.count]).elementsEqual(key)
        }
    }

    /// What the block says for an app in an environment.
    ///
    /// - Parameters:
    ///   - bundleID: in any case.
    ///   - now: microseconds since 1970.
    package static func answer(
        _ block: [UInt8], _ bundleID: UnsafeRawBufferPointer, _ environment: APNsEnvironment, now: Int64
    ) -> LookupAnswer? {
        block.withUnsafeBytes { source in
            var at = 1 + Int(source[0])
            while at < source.count {
                let topic = UnsafeRawBufferPointer(rebasing: source[(at + 1)..<(at + 1 + Int(source[at]))])
                at += 1 + topic.count
                let isWanted = source[at] == environment.code && topic.isLowercase(of: bundleID)
                let kind = source[at + 1]
                at += 2
                guard kind == Kind.found else {
                    if isWanted { return kind == Kind.over ? .over : .pending }
                    continue
                }
                let head = Int(source.loadUnaligned(fromByteOffset: at + 24, as: UInt16.self))
                let tail = Int(source.loadUnaligned(fromByteOffset: at + 26, as: UInt16.self))
                let start = at + fixed
                guard isWanted else {
                    at = start + head + tail
                    continue
                }
                let isLive = source.loadUnaligned(fromByteOffset: at, as: Int64.self) <= now
                return .found(
                    LookupBody(
                        storage: block, head: start..<(start + head), middle: isLive ? .live : .scheduled,
                        tail: (start + head)..<(start + head + tail),
                        tag: EntityTag(
                            hash: source.loadUnaligned(fromByteOffset: at + (isLive ? 16 : 8), as: UInt64.self))))
            }
            return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes are `text`'s with its ASCII capitals made small.
    fileprivate func isLowercase(of text: UnsafeRawBufferPointer) -> Bool {
        guard count == text.count else { return false }
        for index in indices {
            let byte = text[index]
            guard self[index] == (byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte) else { return false }
        }
        return true
    }
}

extension Date {
    /// Whole microseconds since 1970, as PostgreSQL counts; the ends of time stay in range.
    package var microseconds: Int64 {
        Int64(exactly: (timeIntervalSince1970 * 1e6).rounded()) ?? (timeIntervalSince1970 > 0 ? .max : .min)
    }
}

extension APNsEnvironment {
    fileprivate var code: UInt8 {
        switch self {
        case .development: 0
        case .production: 1
        }
    }
}
