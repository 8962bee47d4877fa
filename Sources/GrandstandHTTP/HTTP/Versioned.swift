/// A thing with the version that its `ETag` names.
struct Versioned<Value: Sendable>: Sendable {
    let value: Value
    let version: Int

    init(value: Value, version: Int) {
        self.value = value
        self.version = version
    }
}
