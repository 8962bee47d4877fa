/// A value with the version in its `ETag`.
struct Versioned<Value: Sendable>: Sendable {
    let value: Value
    let version: Int
}
