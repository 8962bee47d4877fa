internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Testing

/// A content type in a rehearsal.
struct RehearsalContentTests {
    private static func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    /// A content type as the API shows it.
    private static let declared = #"""
        {"bundleId": "com.example.Stadium", "attributesType": "Match", "check": "refuse", "versions": [
            {"name": "1.0", "schema": {"type": "object", "additionalProperties": false, "required": ["home", "team"],
                "properties": {"home": {"type": "integer", "minimum": 0}, "cards": {"type": "array", "items": {"type": "object"}},
                    "period": {"enum": ["first", "second"]}, "left": {"type": "integer", "minimum": 0}, "clock": {"type": "string"},
                    "team": {"$ref": "#/$defs/T"}},
                "$defs": {"T": {"type": "object", "required": ["name"],
                    "properties": {"name": {"type": "string"}, "sub": {"anyOf": [{"$ref": "#/$defs/T"}, {"type": "null"}]}}}}}}],
         "createdAt": "2026-11-28T17:45:00Z", "updatedAt": "2026-11-28T17:45:00Z",
         "rules": {"quiet": ["/clock"], "quietInterval": 60, "rings": [
            {"when": {"increases": "/home"}, "alert": {"title": "Goal"}},
            {"when": {"decreases": "/left"}, "alert": {"title": "Left"}},
            {"when": {"becomes": "/period", "value": "second"}, "alert": {"title": "Second half"}},
            {"when": {"appears": "/cards", "value": {"color": "red"}}, "alert": {"title": "Red"}},
            {"when": {"changes": "/team/name"}, "alert": {"title": "Name"}}]}}
        """#

    private static func content() throws -> RehearsalContent {
        try RehearsalContent(
            try #require(BundleID(rawValue: "com.example.Stadium")), "Match",
            try Contract.ContentTypeDraft(json: try value(declared)))
    }

    @Test
    func `every version decodes the marker, the marker rings nothing, and quiet intervals follow the speed of the day`()
        throws
    {
        let content = try Self.content()
        let declaration = content.declaration(marked: "rehearsal", speed: 30)
        let type = try ContentType(content.type.bundleID, "Match", parsing: declaration)
        #expect(type.check == .refuse)
        #expect(type.rules.quietInterval == 2)
        let state = #"{"home": 1, "team": {"name": "x"}, "rehearsal": [0, 1]}"#
        #expect(type.faults(of: Array(state.utf8), at: "").isEmpty)
        let change = StateChange(
            from: try Self.value(state), to: try Self.value(state.replacing("[0, 1]", with: "[0, 2]")), by: type)
        #expect(change.outcome == .quiet)
        #expect(type.rules.rings.count == 5)
    }

    @Test func `each rule in turn gives a content that rings, if its change can be decoded`() throws {
        let content = try Self.content()
        var state = try #require(content.example)
        #expect(content.type.faults(of: state.bytes, at: "") == [])
        var rules: [Int?] = []
        for turn in 0..<6 {
            let next = try #require(content.ringing(after: state, turn: turn))
            rules.append(StateChange(from: state, to: next, by: content.type).rule)
            #expect(content.type.faults(of: next.bytes, at: "") == [])
            state = next
        }
        // In turn 1, `left` (rule 1) cannot decrease, so rule 2 is used. In turn 2, `period` (rule 2) is already
        // `second`, so rule 3 is used.
        #expect(rules == [0, 2, 3, 3, 4, 0])
    }
}
