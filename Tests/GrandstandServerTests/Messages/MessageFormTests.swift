internal import Foundation
internal import Grandstand
internal import GrandstandContract
internal import JSON
internal import Testing

@testable internal import GrandstandServer

/// Messages as people type them.
struct MessageFormTests {
    private static func form(_ pairs: [(String, String)]) -> MessageForm {
        MessageForm(FormFields(entries: pairs.map { (name: $0.0, value: $0.1) }))
    }

    private static func text(_ form: MessageForm) throws -> String { String(decoding: try form.body(), as: UTF8.self) }

    private static let everybody = #"{"bundleId":"com.example.Stadium","environment":"production"}"#

    /// The fields that keep a form from becoming a body.
    private static func faults(_ form: MessageForm) -> [String] {
        #expect(throws: Problem.self) { try form.body() }?.errors.map(\.pointer) ?? []
    }

    @Test func `a form becomes the API's body`() throws {
        let form = Self.form([
            ("event", "end"), ("contentState", "{\r\n  \"home\": 1.50, \"t\": \"a  b\"\r\n}"), ("alertTitle", "Over"),
            ("audience", Self.everybody), ("audience", #"{"bundleId":"com.example.Stadium","variant":"de"}"#),
            ("priority", "10"), ("expiresIn", "300"), ("sendAt", "2026-11-28T14:30"),
            ("dismissalDate", "2026-11-28T16:30:15"),
        ])
        #expect(
            try Self.text(form)
                == #"{"event":"end","alert":{"title":"Over"},"contentState":{"home":1.50,"t":"a  b"},"audiences":["#
                + Self.everybody + #",{"bundleId":"com.example.Stadium","variant":"de"}],"priority":10,"#
                + #""expiresIn":300,"dismissalDate":"2026-11-28T16:30:15Z","sendAt":"2026-11-28T14:30:00Z"}"#)
        #expect(try Self.text(Self.form([])) == #"{"event":"update"}"#)
    }

    @Test func `a state by hand is the body of a state, and has nothing of a composed message`() throws {
        let fields = [("event", "state"), ("contentState", "{}"), ("audience", Self.everybody)]
        #expect(try Self.text(Self.form(fields)) == #"{"contentState":{},"audiences":[\#(Self.everybody)]}"#)
        #expect(
            Self.faults(Self.form(fields + [("alertTitle", "Goal"), ("sendAt", "2026-11-28T14:30")])) == [
                "alertTitle", "sendAt",
            ])
    }

    @Test(
        arguments: [
            ("contentState", "{"), ("alert", "{\"a\": 1, \"a\": 2}"), ("byVariant", "nope"),
            ("contentState", #"{"a": \#(String(repeating: "[", count: 100_000))"#),
        ])
    func `a form that cannot become a body is refused before anything is sent`(field: String, text: String) {
        #expect(Self.faults(Self.form([(field, text)])) == [field])
        #expect(Self.faults(Self.form([("alertTitle", "x"), ("alert", #"{"title": "y"}"#)])) == ["alert"])
    }

    @Test func `the newest content is a template without alert and times, and a repetition has all`() throws {
        let samples = try Samples()
        let request = try samples.request()
        let new = MessageForm(request, isWhole: false, now: Samples.now)
        #expect(
            new["alertTitle"].isEmpty && new["staleDate"].isEmpty && new.audiences.isEmpty
                && !new["contentState"].isEmpty)
        #expect(new["byVariant"] == "{\n  \"de\": {\n    \"contentState\": {}\n  }\n}")
        let again = MessageForm(request, isWhole: true, now: Samples.now)
        #expect(again["alertTitle"] == "Derby" && again["alertBody"] == "b" && again["expiresIn"] == "300")
        #expect(again.audiences == [Self.everybody])
        // Both bodies are the same except for white space.
        let body = try JSONValue(parsing: try again.body())
        let wanted = try JSONValue(parsing: JSONWriter.text(request))
        for name in ["contentState", "alert", "byVariant", "audiences", "priority", "expiresIn", "staleDate"] {
            #expect(body[name]?.compact == wanted[name]?.compact, "\(name)")
        }
        // Times in the past are left out.
        let late = MessageForm(request, isWhole: true, now: Date(timeIntervalSince1970: 1_900_000_001))
        #expect(late["staleDate"].isEmpty)
    }

    /// A page shows invisible and direction-changing characters by their numbers. A form must send back the original
    /// characters.
    @Test func `invisible and direction-changing characters are the same after a form`() throws {
        let content = "{\"t\": \"a\u{202E}b\u{200B}\"}"
        let shown = ReadableJSON.text(Array(content.utf8))
        #expect(!shown.unicodeScalars.contains(where: HTMLText.isDeceptive))
        #expect(HTMLText().escapeText(shown).contains("[U+") == false)
        #expect(try JSONValue(parsing: Array(shown.utf8))["t"]?.string == "a\u{202E}b\u{200B}")
        let form = Self.form([("alertTitle", "a\u{2067}b"), ("alertBody", "c")])
        #expect(form["alertTitle"].isEmpty)
        #expect(try JSONValue(parsing: try form.body())["alert"]?["title"]?.string == "a\u{2067}b")
    }
}
