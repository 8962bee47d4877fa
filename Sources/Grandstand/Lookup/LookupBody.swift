/// The JSON text of an answer with the entity tag that names it, cut in three where it lies in memory: the event's state
/// in the middle depends on the time, so the rest is kept once for both states.
package struct LookupBody: Sendable {
    private let storage: [UInt8]
    private let head: Range<Int>
    private let tail: Range<Int>
    private let middle: Middle
    package let tag: EntityTag

    /// What stands between head and tail.
    enum Middle: Sendable {
        case nothing
        case scheduled
        case live

        var text: StaticString {
            switch self {
            case .nothing: ""
            case .scheduled: "scheduled"
            case .live: "live"
            }
        }
    }

    /// The body that is `text` as it is.
    package init(_ text: [UInt8]) {
        self.init(storage: text, head: text.indices, middle: .nothing, tail: 0..<0, tag: EntityTag(of: text))
    }

    init(storage: [UInt8], head: Range<Int>, middle: Middle, tail: Range<Int>, tag: EntityTag) {
        self.storage = storage
        self.head = head
        self.middle = middle
        self.tail = tail
        self.tag = tag
    }

    /// How many bytes the text has.
    package var count: Int { head.count + middle.text.utf8CodeUnitCount + tail.count }

    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = count
            write(to: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Writes the `count` bytes of the text to the start of `target`, which must have room for them.
    package func write(to target: UnsafeMutableRawBufferPointer) {
        storage.withUnsafeBytes { source in
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[head]))
            let word = UnsafeRawBufferPointer(start: middle.text.utf8Start, count: middle.text.utf8CodeUnitCount)
            UnsafeMutableRawBufferPointer(rebasing: target[head.count...]).copyMemory(from: word)
            UnsafeMutableRawBufferPointer(rebasing: target[(head.count + word.count)...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[tail]))
        }
    }
}

extension LookupBody: Hashable {
    package static func == (one: LookupBody, other: LookupBody) -> Bool {
        one.tag == other.tag && one.bytes == other.bytes
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(tag) }
}
