package import JSON

extension JSONValue {
    /// Parses one JSON text (RFC 8259) strictly.
    ///
    /// - Throws: `malformed-json` with the place of the error, for anything else: invalid UTF-8, lone surrogates, two
    ///   members with one name, nesting deeper than `JSONParser.maximumDepth`; `body-too-large` for more values than
    ///   `maximumValues`.
    ///
    /// - Parameter refusesHugeNumbers: whether a number beyond the range of `Double` is an error. For requests: no app
    ///   can decode such a number.
    package init(
        parsing bytes: [UInt8], maximumValues: Int = JSONParser.maximumValues, refusesHugeNumbers: Bool = false
    ) throws(Problem) {
        do throws(JSONFault) {
            var parser = JSONParser(bytes, maximumValues: maximumValues, refusesHugeNumbers: refusesHugeNumbers)
            self = try parser.parse()
        } catch {
            throw Self.problem(error, in: bytes, maximumValues: maximumValues)
        }
    }

    private static func problem(_ fault: JSONFault, in bytes: [UInt8], maximumValues: Int) -> Problem {
        if fault.kind == .tooManyValues {
            return Problem(
                .bodyTooLarge,
                "The body has more than \(maximumValues) JSON values, nested ones counted. Send it in several parts."
            ) { $0.limit = maximumValues }
        }
        let before = bytes[..<fault.offset]
        let line = before.count { $0 == 0x0A } + 1
        let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        let detail = "\(fault.detail) (line \(line), column \(column))."
        return Problem(.malformedJson, detail, errors: [FieldError(pointer: fault.pointer, detail: detail)])
    }
}
