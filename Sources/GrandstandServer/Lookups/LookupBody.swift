internal import Grandstand

/// The JSON text of an answer, with its entity tag.
struct LookupBody: Sendable, Hashable {
    let bytes: [UInt8]
    let tag: EntityTag

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = EntityTag(of: bytes)
    }
}
