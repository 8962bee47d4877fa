internal import Foundation
internal import GrandstandContract

@testable internal import GrandstandClient

/// How the client reads answers and writes bodies.
enum ClientJSON {
    static func read<Value: Decodable>(_ type: Value.Type, _ bytes: Data) throws -> Value {
        try CodableJSON.value(type, in: bytes)
    }

    static func write(_ value: some Encodable) throws -> Data { try CodableJSON.body(value) }
}
