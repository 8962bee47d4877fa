internal import Testing

@testable import HTTP2

/// Stored fields are returned as they were stored.
struct FieldBlockTests {
    private static let headers = [
        HTTP2Header("apns-request-id", "0d4bd2b8-9f0a-4a4e-8c8a-1f2e3d4c5b6a"),
        HTTP2Header("x", ""),
        HTTP2Header("set-cookie", "a=1"),
        HTTP2Header("set-cookie", "b=2"),
        HTTP2Header("long", String(repeating: "ä", count: 5_000)),
    ]

    @Test func `the order and duplicates are kept`() {
        #expect(FieldBlock(Self.headers).headers == Self.headers)
        #expect(FieldBlock().headers.isEmpty)
    }

    @Test func `the first field with a name is found`() {
        let block = FieldBlock(Self.headers)
        #expect(block.first(named: "set-cookie") == "a=1")
        #expect(block.first(named: "x")?.isEmpty == true)
        #expect(block.first(named: "long")?.count == 5_000)
        #expect(block.first(named: "set-cooki") == nil)
        #expect(block.first(named: "") == nil)
    }

    @Test func `invalid UTF-8 is repaired`() {
        var block = FieldBlock()
        let (name, value) = (Array("server".utf8), [UInt8]([0x66, 0xff, 0x6f]))
        name.withUnsafeBufferPointer { name in
            value.withUnsafeBufferPointer { value in block.append(name: name, value: value) }
        }
        #expect(block.first(named: "server") == "f\u{fffd}o")
    }

    @Test func `removed fields are gone`() {
        var block = FieldBlock(Self.headers)
        block.removeAll()
        #expect(block == FieldBlock())
    }
}
