/// The JSON text of an answer, with its entity tag.
package struct LookupBody: Sendable, Hashable {
    package let bytes: [UInt8]
    package let tag: EntityTag

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tag = EntityTag(of: bytes)
    }
}
