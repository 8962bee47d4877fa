internal import CLibPQ

/// A query's parameters in the form libpq takes them.
struct Parameters {
    let bindings: [PostgresBinding]

    var count: Int32 { Int32(bindings.count) }

    func withTypes<Result>(_ body: (UnsafePointer<Oid>?) -> Result) -> Result {
        let types = bindings.map(\.type.oid)
        return types.withUnsafeBufferPointer { body($0.baseAddress) }
    }

    /// Values, lengths and formats; all values are binary.
    func withValues<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        guard !bindings.isEmpty else { return body(nil, nil, nil) }
        // One buffer for all: libpq copies it into its own before it returns. A zero-length value needs an address too.
        var buffer: [UInt8] = []
        var offsets: [Int] = []
        for binding in bindings {
            offsets.append(buffer.count)
            if let bytes = binding.bytes { buffer += bytes }
        }
        buffer.append(0)
        let lengths = bindings.map { Int32($0.bytes?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: bindings.count)
        return buffer.withUnsafeBytes { raw in
            let base = raw.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = zip(bindings, offsets).map { binding, offset in
                binding.bytes == nil ? nil : base.map { UnsafePointer($0 + offset) }
            }
            return values.withUnsafeBufferPointer { values in
                lengths.withUnsafeBufferPointer { lengths in
                    formats.withUnsafeBufferPointer { formats in
                        body(values.baseAddress, lengths.baseAddress, formats.baseAddress)
                    }
                }
            }
        }
    }
}
