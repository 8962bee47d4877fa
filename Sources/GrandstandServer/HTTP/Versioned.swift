/// A value with the version in its `ETag`.
package struct Versioned<Value: Sendable>: Sendable {
    package var value: Value
    package let version: Int
}
