import CNghttp2
import Testing

@testable import HTTP2

struct HeaderFieldsTests {
    private func pairs(_ headers: [HTTP2Header]) throws -> [(String, String, UInt8)] {
        var fields = HeaderFields()
        try fields.add(pseudo: ":path", "/x")
        for header in headers { try fields.add(header) }
        return fields.withPairs { pairs, count in
            UnsafeBufferPointer(start: pairs, count: count).map { pair in
                (
                    String(decoding: UnsafeBufferPointer(start: pair.name, count: pair.namelen), as: UTF8.self),
                    String(decoding: UnsafeBufferPointer(start: pair.value, count: pair.valuelen), as: UTF8.self),
                    pair.flags
                )
            }
        }
    }

    @Test func `fields keep their order and their indexing`() throws {
        let block = try pairs([
            HTTP2Header("authorization", "bearer x", indexing: .never), HTTP2Header("a", ""), HTTP2Header("b", "2"),
        ])
        #expect(block.map(\.0) == [":path", "authorization", "a", "b"])
        #expect(block.map(\.1) == ["/x", "bearer x", "", "2"])
        let noIndex = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
        #expect(block.map { $0.2 & noIndex } == [0, noIndex, 0, 0])
    }

    @Test(arguments: ["", "Upper", ":status", "with space", "new\nline", "nul\0"])
    func `names that HTTP forbids are refused`(name: String) {
        #expect(throws: HeaderFields.Invalid.self) { try pairs([HTTP2Header(name, "x")]) }
    }

    @Test(arguments: ["a\r\nb", "nul\0", "bell\u{7}"])
    func `values that HTTP forbids are refused`(value: String) {
        #expect(throws: HeaderFields.Invalid.self) { try pairs([HTTP2Header("x", value)]) }
    }

    @Test func `the storage is reused`() throws {
        var fields = HeaderFields()
        try fields.add(HTTP2Header("a", "1"))
        fields.removeAll()
        try fields.add(HTTP2Header("b", "2"))
        #expect(fields.withPairs { pairs, count in count == 1 && pairs?.pointee.namelen == 1 })
    }
}
