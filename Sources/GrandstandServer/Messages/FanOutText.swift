internal import Grandstand
internal import JSON
internal import Postgres

/// A crowd's progress as the column `deliveries.fan_out` has it.
enum FanOutText {
    static func text(_ fanOut: FanOut) -> String {
        var writer = JSONWriter()
        writer.object { object in
            object.member("cursor", fanOut.cursor)
            object.member("swept", fanOut.isSwept)
            object.member("waiting", fanOut.waiting)
            object.member("resting", fanOut.resting)
            object.member("total", fanOut.total)
            object.member("accepted", fanOut.accepted)
            object.member("rejected", fanOut.rejected)
            object.member("gone", fanOut.gone)
            object.member("expired", fanOut.expired)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads the column of a row; `nil`: the message is for a channel, or has not begun.
    static func fanOut(_ row: PostgresRow) throws -> FanOut? {
        guard let json = try row.decode(PostgresJSON?.self, "fan_out") else { return nil }
        let value = try JSONValue(parsing: json.bytes)
        func number(_ name: String) -> Int { value[name].flatMap(integer) ?? 0 }
        var fanOut = FanOut(
            cursor: number("cursor"), waiting: number("waiting"), resting: number("resting"), total: number("total"),
            accepted: number("accepted"), rejected: number("rejected"),
            gone: number("gone"), expired: number("expired"))
        if case .bool(true)? = value["swept"]?.kind { fanOut.isSwept = true }
        return fanOut
    }

    private static func integer(_ value: JSONValue) -> Int? {
        if case .number(let text) = value.kind { Int(text) } else { nil }
    }
}
