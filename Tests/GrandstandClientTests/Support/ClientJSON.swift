internal import Foundation

@testable internal import GrandstandClient

/// How the client reads answers and writes bodies.
enum ClientJSON {
    static func read<Value: Decodable>(_ type: Value.Type, _ bytes: Data) throws -> Value {
        try JSONText.value(type, in: bytes)
    }

    static func write(_ value: some Encodable) throws -> Data { try JSONText.body(value) }
}
