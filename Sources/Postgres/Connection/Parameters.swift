internal import CLibPQ

/// A query's parameters in libpq's form.
struct Parameters {
    let bindings: [PostgresBinding]

    var count: Int32 { Int32(bindings.count) }

    func withTypes<Result>(_ body: (UnsafePointer<Oid>?) -> Result) -> Result {
        let types = bindings.map(\.type.oid)
        return types.withUnsafeBufferPointer { body($0.baseAddress) }
    }

    /// Values, lengths and formats; all values are binary. libpq copies them while `body` runs.
    func withValues<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
    ) -> Result {
        let count = bindings.count
        guard count > 0 else { return body(nil, nil, nil) }
        let total = bindings.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
        // One byte more, so that even an empty value has an address. libpq reads a value without an address as NULL.
        return withUnsafeTemporaryAllocation(byteCount: total + 1, alignment: 1) { buffer in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: count * 2) { numbers in
                    var offset = 0
                    for (index, binding) in bindings.enumerated() {
                        numbers[index] = Int32(binding.bytes?.count ?? 0)
                        numbers[count + index] = 1
                        values[index] = nil
                        guard let bytes = binding.bytes else { continue }
                        let place = UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<offset + bytes.count + 1])
                        place.copyBytes(from: bytes)
                        values[index] = place.baseAddress.map { UnsafePointer($0.assumingMemoryBound(to: CChar.self)) }
                        offset += bytes.count
                    }
                    let formats = numbers.baseAddress.map { UnsafePointer($0 + count) }
                    return body(UnsafePointer(values.baseAddress), UnsafePointer(numbers.baseAddress), formats)
                }
            }
        }
    }
}
