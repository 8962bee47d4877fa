internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Testing

/// Bodies are read by the rules in openapi.yaml.
struct RequestReadingTests {
    private static func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    /// The problem of a body with these members; `nil`: it is accepted.
    private static func problem<Body: ContractRequest>(_ type: Body.Type, _ text: String) throws -> Problem? {
        do throws(Problem) {
            _ = try type.read(try JSONValue(parsing: Array(text.utf8)))
            return nil
        } catch {
            return error
        }
    }

    @Test func `all faults of a body are reported at once`() throws {
        let problem = try Self.problem(
            Contract.EventDraft.self,
            #"{"name": "", "channelsOpenBefore": 31536001, "startsAt": "noon", "kind": 1, "extra": true}"#)
        #expect(problem?.kind == .unknownField)
        #expect(
            problem?.errors.map(\.pointer)
                == ["/extra", "/name", "/kind", "/startsAt", "/channelsOpenBefore", "/audiences"])
    }

    @Test func `null is the same as a missing member, unless the member is required`() throws {
        #expect(try Self.problem(Contract.RotationDraft.self, #"{"overlapSeconds": null}"#) == nil)
        let problem = try Self.problem(Contract.ChannelDraft.self, #"{"storagePolicy": null}"#)
        #expect(problem?.errors.map(\.detail) == ["storagePolicy is required and cannot be null."])
    }

    @Test func `an unknown field of a nested object is found, too, and its name is escaped in the pointer`() throws {
        let problem = try Self.problem(
            Contract.AppDraft.self,
            #"{"name": "x", "teamId": "SIMULATOR1", "keyId": "SIMULATOR1", "preview": {"a/b~c": 1}}"#)
        #expect(problem?.errors.map(\.pointer) == ["/preview/a~1b~0c"])
    }

    @Test func `of many faults the first are listed, with the number of the others`() throws {
        let names = (0..<1_000).map { #""f\#($0)": 1"# }.joined(separator: ",")
        let problem = try Self.problem(Contract.ChannelDraft.self, "{\(names)}")
        // 1,001 faults: 1,000 unknown members and a missing one. Only the first 50 are listed.
        #expect(problem?.kind == .unknownField && problem?.errors.count == FaultList.limit)
        #expect(problem?.errors.first?.pointer == "/f0")
        #expect(problem?.detail.hasSuffix(" 951 more places are wrong and not listed.") == true)
    }

    @Test(arguments: ["2026-11-21T20:45:00Z", "2026-11-21T20:45:00.000Z", "2026-11-21T21:45:00+01:00"])
    func `a time may have any offset`(text: String) {
        #expect(RFC3339.date(text) == Date(timeIntervalSince1970: 1_795_293_900))
    }

    @Test(arguments: [
        "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T10:60:00Z", "2026-11-21T10:00:60Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-11-00T00:00:00Z", "2026-11-21T10:00:00+24:00", "2026-11-21T10:00:00+01:60", "2026-11-21T10:00:00",
        "2026-1-21T10:00:00Z", "2026-11-21", "",
    ])
    func `a day or time that does not exist is refused`(text: String) throws {
        #expect(RFC3339.date(text) == nil)
        #expect(try Self.time(text) == ["/expiresAt"])
    }

    @Test(arguments: [
        ("2028-02-29T00:00:00Z", true), ("2000-02-29T23:59:59.999Z", true), ("2026-04-30T12:00:00-09:30", true),
        ("2026-12-31T23:59:59Z", true), ("2000-01-01T00:00:00+14:00", true), ("2099-12-31T23:59:59-12:00", true),
        ("1999-12-31T23:59:59-12:00", false), ("2100-01-01T00:00:00Z", false),
    ])
    func `the last day of a month exists, and a time must be in the years 2000 to 2099`(
        text: String, isTaken: Bool
    ) throws { #expect(try Self.time(text).isEmpty == isTaken) }

    private static func time(_ text: String) throws -> [String] {
        try problem(Contract.KeyDraft.self, #"{"name": "x", "scopes": ["lookup"], "expiresAt": "\#(text)"}"#)?
            .errors.map(\.pointer) ?? []
    }

    @Test func `a number beyond the range of a double is refused as such`() throws {
        let problem = try Self.problem(Contract.EventDefaults.self, #"{"relevanceScore": 1e400}"#)
        #expect(
            problem?.errors.map(\.detail)
                == ["A number of at most 1.8e308 was expected; this one is beyond what a double holds."])
    }

    @Test(
        arguments: [
            ("5", 5), ("5.0", 5), ("5e0", 5), ("5.5", nil), ("1e300", nil), ("5e-99999999999", nil),
        ] as [(String, Int?)])
    func `a whole number is accepted in any notation`(text: String, number: Int?) throws {
        let body = try Self.json(#"{"priority": \#(text), "staleAfter": \#(text)}"#)
        let defaults = try? Contract.EventDefaults.read(body)
        #expect(defaults?.staleAfter == number && defaults?.priority == number)
    }

    @Test func `the length of a text is counted in code points`() throws {
        func draft(_ name: String) -> String { #"{"name": "\#(name)", "scopes": ["lookup"]}"# }
        // 100 visible characters, each of two code points.
        let marked = String(repeating: "e\u{301}", count: 100)
        #expect(try Self.problem(Contract.KeyDraft.self, draft(marked)) == nil)
        #expect(try Self.problem(Contract.KeyDraft.self, draft("🏆 صباح 東京")) == nil)
        #expect(
            try Self.problem(Contract.KeyDraft.self, draft(marked + "e"))?.errors.map(\.detail)
                == ["A string of 1 to 200 characters was expected; this one has 201."])
        #expect(try Self.problem(Contract.KeyDraft.self, draft(#"a\u0000b"#))?.kind == .invalidRequest)
    }

    @Test func `of two members that exclude each other the second is reported`() throws {
        let problem = try Self.problem(
            Contract.BroadcastDraft.self,
            #"{"event": "update", "contentState": {}, "expiresIn": 1, "apnsExpiration": 0}"#)
        #expect(problem?.errors.map(\.pointer) == ["/apnsExpiration"])
    }
}
