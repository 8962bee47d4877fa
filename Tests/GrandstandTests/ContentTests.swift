internal import APNsWire
internal import Foundation
internal import GrandstandContract
internal import JSON
internal import Testing

@testable internal import Grandstand

private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

struct ContentTests {
    private static let app = BundleID(rawValue: "com.example.Stadium")

    static func type(_ body: String) throws -> ContentType {
        try ContentType(try #require(app), "MatchAttributes", body: try json(body))
    }

    static func schema(_ schema: String, _ more: String = "") throws -> ContentType {
        try type(#"{"check": "refuse", "versions": [{"name": "3.2", "schema": \#(schema)}]\#(more)}"#)
    }

    /// A type with a rule for when a state rings, and its alert.
    static func rule(_ when: String, _ alert: String = #"{"title": "New"}"#) throws -> ContentType {
        try schema("{}", #", "rules": {"rings": [{"when": \#(when), "alert": \#(alert)}]}"#)
    }

    @Test(arguments: [
        ("1", "1.0", true), ("1", "10e-1", true), ("0", "-0.0", true), ("1e400", "10e399", true),
        ("0.5", "5E-1", true), ("123456789012345678901", "123456789012345678901.0", true),
        ("1", "2", false), ("-2", "-1", false), ("-1", "0", false), ("9", "10", false), ("0.09", "0.1", false),
        ("9007199254740992", "9007199254740993", false),
    ])
    func `numbers are compared by their exact values`(one: String, other: String, isEqual: Bool) {
        let (one, other) = (JSONNumber(one), JSONNumber(other))
        #expect((one == other) == isEqual && (one < other) == !isEqual && !(other < one))
    }

    @Test func `the order of members and the form of numbers make no difference`() throws {
        let one = try json(#"{"a": 1, "b": [1.0, {"c": null}]}"#)
        #expect(one.isSame(as: try json(#"{"b":[1,{"c":null}],"a":1e0}"#)))
        #expect(!one.isSame(as: try json(#"{"b":[1,{}],"a":1}"#)))
    }

    @Test func `ignored members may change, appear and disappear`() throws {
        let (old, new) = (try json(#"{"a": 1, "meta": {"b": "1"}}"#), try json(#"{"a": 1, "meta": {}}"#))
        #expect(old.isSame(as: new, ignoring: [try #require(JSONPointer("/meta/b"))]))
        #expect(!old.isSame(as: new))
    }

    // MARK: Schemas

    @Test(arguments: [
        (#"{"type": "object", "title": "x"}"#, "/versions/0/schema/title"),
        (#"{"properties": {"a": {"pattern": "x"}}}"#, "/versions/0/schema/properties/a/pattern"),
        (##"{"$ref": "#/$defs/A"}"##, "/versions/0/schema/$defs/A"),
        (#"{"$ref": "https://example.com"}"#, "/versions/0/schema/$ref"),
        (##"{"anyOf": [{"$ref": "#"}]}"##, "/versions/0/schema"),
        (##"{"$defs": {"A": {"anyOf": [{}, {"$ref": "#/$defs/A"}]}}}"##, "/versions/0/schema/$defs/A"),
        (#"{"type": "whole"}"#, "/versions/0/schema/type"),
        (#"{"when": {"increases": "/home", "changes": "/home"}, "alert": {"title": "x"}}"#, "/rules/rings/0/when"),
        (#"{"when": {"becomes": "/home"}, "alert": {"title": "x"}}"#, "/rules/rings/0/when/value"),
        (#"{"when": {"changes": "home"}, "alert": {"title": "x"}}"#, "/rules/rings/0/when/changes"),
        (#"{"when": {"changes": "/home"}, "alert": {"title": "{home"}}"#, "/rules/rings/0/alert/title"),
        (#"{"when": {"changes": "/home"}, "alert": {}}"#, "/rules/rings/0/alert"),
        (#"{"when": {"changes": "/home"}}"#, "/rules/rings/0/alert"),
    ])
    func `a schema with an unsupported keyword, or a rule that can never ring, is refused with its place`(
        part: String, pointer: String
    ) throws {
        let isRule = pointer.hasPrefix("/rules")
        let problem = #expect(throws: Problem.self) {
            try Self.schema(isRule ? "{}" : part, isRule ? #", "rules": {"rings": [\#(part)]}"# : "")
        }
        let pointers = problem?.errors.map(\.pointer) ?? []
        #expect(pointers.contains { $0.hasPrefix(pointer) }, "\(pointers)")
    }

    @Test(arguments: [
        ("/home", true), ("/extra/any", true), ("/goals/any", true), ("/team/name", true), ("/clok", false),
        ("/home/goals", false), ("/team/nam", false), ("/never", false),
    ])
    func `rules may name only members that a version has`(member: String, isKnown: Bool) throws {
        let text = ##"""
            {"versions": [
                {"name": "1", "schema": {"properties": {"home": {"type": "integer"}}}},
                {"name": "2", "schema": {"$ref": "#/$defs/S", "$defs": {"S": {"additionalProperties": false, "properties": {
                    "team": {"anyOf": [{"type": "null"}, {"properties": {"name": {"type": "string"}}}]}, "never": false,
                    "goals": {"additionalProperties": {"type": "integer"}}, "extra": {"type": "object"}}}}}}],
             "rules": {"quiet": ["%"], "rings": [{"when": {"changes": "%"}, "alert": {"title": "{old:%}"}}]}}
            """##.replacing("%", with: member)
        if isKnown {
            _ = try Self.type(text)
            return
        }
        let problem = #expect(throws: Problem.self) { try Self.type(text) }
        let places = ["quiet/0", "rings/0/alert/title", "rings/0/when/changes"].map { "/rules/" + $0 }
        #expect(problem?.errors.map(\.pointer).sorted() == places)
    }

    @Test(arguments: [
        (#"{"increases": "/name"}"#, "/name is a number in no version's schema."),
        (#"{"appears": "/home"}"#, "/home is an array in no version's schema."),
        (#"{"becomes": "/name", "value": "C"}"#, "no version's schema allows this value of /name."),
        (#"{"increases": "/cards/0/minute"}"#, "does not lead into the items of an array."),
        (#"{"increases": "/home"}"#, nil), (#"{"becomes": "/name", "value": "B"}"#, nil),
        (#"{"appears": "/cards", "value": {"minute": 1}}"#, nil),
    ])
    func `a rule that no content can meet is refused with the reason`(when: String, reason: String?) throws {
        let text = ##"""
            {"versions": [{"name": "1", "schema": {"type": "object", "properties": {
                "home": {"type": ["integer", "null"]}, "name": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]},
                "cards": {"type": "array", "items": {"type": "object"}}},
                "$defs": {"N": {"type": "string", "enum": ["A", "B"]}}}}],
             "rules": {"rings": [{"when": \##(when), "alert": {"title": "x"}}]}}
            """##
        var errors: [FieldError] = []
        do { _ = try Self.type(text) } catch let problem as Problem { errors = problem.errors }
        #expect(errors.count == (reason == nil ? 0 : 1))
        #expect(reason.map { errors.first?.detail.contains($0) == true } ?? true, "\(errors)")
    }

    @Test func `a fault has its place, the expected value, and the versions it concerns`() throws {
        let type = try Self.type(
            #"""
            {"versions": [
                {"name": "3.1", "schema": {"properties": {"home": {"type": "integer"}, "away": {"type": "integer"}}}},
                {"name": "3.2", "schema": {"properties": {"home": {"type": "integer"}, "team": {"$ref": "#/$defs/T"}},
                    "$defs": {"T": {"type": "object", "required": ["name"], "properties": {"sub": {"$ref": "#/$defs/T"}}}}}}]}
            """#)
        let content = Array(#"{"home": "1", "away": 1.5, "team": {"name": "x", "sub": {}}}"#.utf8)
        let faults = type.faults(of: content, at: "/contentState")
        #expect(faults.map(\.pointer) == ["/contentState/home", "/contentState/away", "/contentState/team/sub/name"])
        #expect(faults.first?.detail.contains("3.1, 3.2") == true)
        #expect(faults.first?.detail.hasPrefix("A whole number was expected, not a string.") == true)
        #expect(!type.refuses && type.declaration.check == .warn)
    }

    // MARK: Work

    /// A schema with a chain of `count` references that leads to the part that checks a value.
    private static func chain(_ count: Int) -> String {
        let links = (0..<count).map { ##""a\##($0)": {"$ref": "#/$defs/a\##($0 + 1)"}"## }.joined(separator: ",")
        return ##"""
            {"$ref": "#/$defs/a0", "$defs": {\##(links),
            "a\##(count)": {"properties": {"a": {"$ref": "#/$defs/a0"}}}}}
            """##
    }

    @Test func `the check of a deeply nested content ends early and needs no deep stack`() async throws {
        let type = try Self.schema(Self.chain(14))
        let content = String(repeating: #"{"a":"#, count: 120) + "1" + String(repeating: "}", count: 120)
        let faults = await Task.detached { type.faults(of: Array(content.utf8), at: "/contentState") }.value
        #expect(
            faults == [
                FieldError(
                    pointer: "/contentState",
                    detail:
                        "A simpler content was expected. It takes too long to find out whether com.example.Stadium 3.2 can "
                        + "decode this one.")
            ])
    }

    private static func repeated(_ text: String, _ count: Int) -> String {
        Array(repeating: text, count: count).joined(separator: ",")
    }

    @Test func `the work of a check is bounded`() throws {
        let names = (0..<7_000).map { "\"n\($0)\"" }.joined(separator: ",")
        let type = try Self.schema(#"{"properties": {"a": {"items": {"required": [\#(names)]}}}}"#)
        let content = #"{"a":[\#(Self.repeated("{}", 300))]}"#
        var budget = ContentSchema.mostWork
        let faults = type.faults(of: Array(content.utf8), at: "", spending: &budget)
        // The check ends with the step that spends the rest of the budget. No single step is larger than this.
        #expect(budget > -10_000)
        #expect(!faults.isEmpty && faults.count <= FaultList.limit)
    }

    /// The processor time that `body` takes, so that other tests hardly count.
    private static func time(_ body: () -> Void) -> Double {
        var (begin, end) = (timespec(), timespec())
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin)
        body()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
        return Double(end.tv_sec - begin.tv_sec) + Double(end.tv_nsec - begin.tv_nsec) / 1e9
    }

    @Test func `a number is looked up among the values of an enumeration, however many there are`() throws {
        let content = Array(#"{"a":[\#(Self.repeated("7", 900))]}"#.utf8)
        let times = try [5_000, 5].map { count in
            let type = try Self.schema(
                ##"{"properties": {"a": {"items": {"anyOf": [\##(Self.repeated(##"{"$ref": "#/$defs/e"}"##, 20))]}}}, "##
                    + ##""$defs": {"e": {"type": "number", "enum": [\##((0..<count).map { "\($0 * 2)" }.joined(separator: ","))]}}}"##
            )
            return Self.time { _ = type.faults(of: content, at: "") }
        }
        #expect(times[0] < times[1] * 10)
    }

    @Test func `the time of a rule grows with the length of an array, not with its square`() throws {
        let rules = (2_000..<2_010).map { #"{"when": {"appears": "/a", "value": \#($0)}, "alert": {"title": "New"}}"# }
        let type = try Self.schema("{}", #", "rules": {"rings": [\#(rules.joined(separator: ","))]}"#)
        let times = try [1_000, 100].map { count in
            let numbers = (0..<count).map(String.init)
            let old = try json(#"{"a":[\#(numbers.joined(separator: ","))]}"#)
            let new = try json(#"{"a":[\#(numbers.reversed().joined(separator: ","))]}"#)
            #expect(StateDecision.change(from: old, to: new, by: type).outcome == .update)
            return Self.time { _ = StateDecision.change(from: old, to: new, by: type) }
        }
        #expect(times[0] < times[1] * 40)
    }

    @Test func `an item that occurs one more time counts as added`() throws {
        let type = try Self.rule(#"{"appears": "/a"}"#)
        let old = try json(#"{"a": [{"x": 1, "y": [2]}, 3]}"#)
        let same = try json(#"{"a": [3.0, {"y": [2.0], "x": 1e0}]}"#)
        let more = try json(#"{"a": [3, 3, {"y": [2], "x": 1}]}"#)
        #expect(StateDecision.change(from: old, to: same, by: type).outcome == .update)
        #expect(StateDecision.change(from: old, to: more, by: type).outcome == .rings)
    }

    @Test func `an alert is not longer than a message may be`() throws {
        let body = String(repeating: "{a}", count: 1_000)
        let type = try Self.rule(#"{"changes": "/a"}"#, #"{"title": "T", "body": "\#(body)"}"#)
        let rule = try #require(type.rules.rings?.first)
        let new = try json(#"{"a":"\#(String(repeating: "x", count: 5_000))"}"#)
        let alert = try #require(rule.alert(for: nil, from: try json("{}"), to: new))
        #expect(alert.count > APNsLimits.broadcastPayload && alert.count < 3 * APNsLimits.broadcastPayload)
        let title = String(repeating: "x", count: 5_000)
        #expect(throws: Problem.self) { try Self.rule(#"{"changes": "/a"}"#, #"{"title": "\#(title)"}"#) }
    }
}

struct StateChangeTests {
    private static let type = try? ContentTests.schema(
        "{}",
        #"""
        , "rules": {"quiet": ["/clock"], "quietInterval": 30, "rings": [
            {"when": {"increases": "/home"}, "alert": {"title": "{name} scores", "body": "{old:home} → {home} {{x}}"},
                "alertsByLocale": {"de": {"title": "Tor für {name}"}}},
            {"when": {"becomes": "/period", "value": "fullTime"}, "alert": {"title": "Full time"}},
            {"when": {"appears": "/cards", "value": {"color": "red"}}, "alert": {"title": "Red card"}},
            {"when": {"decreases": "/left"}, "alert": {"title": "Left"}},
            {"when": {"changes": "/referee/name"}, "alert": {"title": "Referee {/referee/name}"}}]}
        """#)

    private static let old =
        #"{"home": 1, "clock": "1", "period": "second", "cards": [{"color": "red", "minute": 3}], "left": 3, "name": "Rapid", "referee": {"name": "A"}}"#

    static let changes: [(String, String, Contract.StateOutcome, Int?)] = [
        ("nothing", old, .unchanged, nil),
        ("a clock", old.replacing(#""clock": "1""#, with: #""clock": "2""#), .quiet, nil),
        ("a period", old.replacing("second", with: "third"), .update, nil),
        ("a goal", old.replacing(#""home": 1"#, with: #""home": 2"#), .rings, 0),
        ("a goal that is taken back", old.replacing(#""home": 1"#, with: #""home": 0"#), .update, nil),
        ("the end", old.replacing("second", with: "fullTime"), .rings, 1),
        (
            "a red card", old.replacing(#""minute": 3}"#, with: #""minute": 3}, {"color": "red", "minute": 9}"#),
            .rings, 2
        ),
        ("a yellow card", old.replacing(#""minute": 3}"#, with: #""minute": 3}, {"color": "yellow"}"#), .update, nil),
        ("fewer", old.replacing(#""left": 3"#, with: #""left": 2.5"#), .rings, 3),
        ("a name within", old.replacing(#"{"name": "A"}"#, with: #"{"name": "B"}"#), .rings, 4),
    ]

    @Test(arguments: changes)
    func `each difference has its outcome`(what: String, new: String, outcome: Contract.StateOutcome, rule: Int?) throws
    {
        let change = StateDecision.change(
            from: try json(Self.old), to: try json(new), by: Self.type)
        #expect(change.outcome == outcome, "\(what)")
        #expect(change.rule == rule, "\(what)")
    }

    @Test func `an alert is in the language of its variant`() throws {
        let rule = try #require(Self.type?.rules.rings?.first)
        let (old, new) = (try json(Self.old), try json(Self.goal))
        let german = rule.alert(for: Variant(rawValue: "de-AT"), from: old, to: new)
        #expect(german == Array(#"{"title":"Tor für Rapid"}"#.utf8))
    }

    @Test(arguments: [
        (0, #"{"home": 1}"#, #"{"home": 2}"#, #"{"home": 1}"#, true),
        (0, #"{"home": 1}"#, #"{"home": 2}"#, #"{"home": 3}"#, false),
        (3, #"{"left": 3}"#, #"{"left": 2}"#, #"{"left": 3}"#, true),
        (1, #"{"period": "second"}"#, #"{"period": "fullTime"}"#, #"{"period": "second"}"#, true),
        (1, #"{"period": "second"}"#, #"{"period": "fullTime"}"#, #"{"period": "extra"}"#, false),
        (2, #"{"cards": [1]}"#, #"{"cards": [1, {"color": "red"}]}"#, #"{"cards": []}"#, true),
        (2, #"{"cards": [1]}"#, #"{"cards": [1, {"color": "red"}]}"#, #"{"cards": [{"color": "red"}]}"#, false),
        (4, #"{"referee": {}}"#, #"{"referee": {"name": "A"}}"#, "{}", true),
        (4, #"{"referee": {}}"#, #"{"referee": {"name": "A"}}"#, #"{"referee": {"name": "B"}}"#, false),
    ])
    func `an alert is undone only if its change is taken back`(
        rule: Int, before: String, state: String, newer: String, isUndone: Bool
    ) throws {
        let rule = try #require(Self.type?.rules.rings?[rule].when)
        let (old, new) = (try json(before), try json(state))
        #expect(rule.holds(from: old, to: new))
        #expect(rule.isUndone(from: old, to: new, by: try json(newer)) == isUndone)
    }

    @Test func `quiet messages wait for their turn, and the newest one is sent`() {
        let rules = Contract.StateRules()
        let now = Date(timeIntervalSince1970: 1_000)
        #expect(rules.nextQuietAt(after: nil, at: now) == now)
        #expect(rules.nextQuietAt(after: now.addingTimeInterval(-10), at: now) == now.addingTimeInterval(20))
        #expect(rules.nextQuietAt(after: now.addingTimeInterval(20), at: now) == now.addingTimeInterval(20))
        #expect(rules.nextQuietAt(after: now.addingTimeInterval(-31), at: now) == now)
    }

    // MARK: Decisions

    private static func decide(
        _ new: String, sequence: Int? = nil, epoch: Int? = nil, isFinal: Bool = false, isOver: Bool = false,
        last: Int? = nil, lastEpoch: Int = 0, shown: String = old, type: ContentType? = type
    ) throws -> StateDecision {
        let audience = Audience.ID(bundleID: try #require(type?.bundleID), environment: .production)
        var target = StateDecision.TargetAudience(audience: audience, type: type, newest: Array(shown.utf8))
        target.lastState = Array(old.utf8)
        return try StateDecision(
            Contract.StateDraft(
                contentState: RawJSON(unchecked: new.utf8), sequence: sequence, sequenceEpoch: epoch, final: isFinal),
            to: [target], isOver: isOver, progress: .init(sequence: last, epoch: lastEpoch),
            now: Date(timeIntervalSince1970: 0))
    }

    private static let goal = old.replacing(#""home": 1"#, with: #""home": 2"#)

    @Test func `a goal is an update of priority 10 with its alert, a quiet change one of priority 5 that waits`() throws
    {
        let goal = try Self.decide(Self.goal, sequence: 3, last: 2)
        #expect(goal.outcome == .rings && goal.request?.priority == 10 && goal.notBefore == nil)
        #expect(goal.request?.event == .update && goal.request?.alert != nil)
        #expect(goal.stateProgress.sequence == 3)
        let quiet = try Self.decide(Self.old.replacing(#""clock": "1""#, with: #""clock": "2""#))
        #expect(quiet.outcome == .quiet && quiet.request?.priority == 5)
        #expect(quiet.notBefore == Date(timeIntervalSince1970: 0))
    }

    @Test func `whether a state rings depends on the state before, and whether it is sent on what phones show`() throws
    {
        // Somebody sent a message with an older score, or typed the next one too early.
        let typo = Self.old.replacing(#""home": 1"#, with: #""home": 0"#)
        let restored = try Self.decide(Self.old, sequence: 5, last: 5, shown: typo)
        #expect(restored.outcome == .update && restored.request?.alert == nil)
        #expect(try Self.decide(Self.goal, shown: Self.goal).outcome == .unchanged)
        let goal = try Self.decide(Self.goal, sequence: 6, last: 5, shown: typo)
        #expect(goal.outcome == .rings)
        #expect(goal.request?.alert?.description == #"{"title":"Rapid scores","body":"1 → 2 {x}"}"#)
        #expect(throws: Problem.self) { try Self.decide(Self.goal, sequence: 5, last: 5, shown: typo) }
    }

    @Test func `an alert with an empty title is left out, with a warning`() throws {
        let nameless = Self.goal.replacing("Rapid", with: " ")
        let alert = #"{"title": "{name}", "body": "x"}"#
        let type = try ContentTests.rule(#"{"increases": "/home"}"#, alert)
        let decision = try Self.decide(nameless, type: type)
        #expect(decision.outcome == .update && decision.rule == nil && decision.request?.alert == nil)
        #expect(decision.warnings.first?.hasPrefix("The alert of /rules/rings/0 has an empty title") == true)
        let named = try Self.decide(Self.goal, type: type)
        #expect(named.outcome == .rings && named.warnings.isEmpty)
    }

    @Test func `the last state is an end, with the alert of its rule, even if nothing differs`() throws {
        let end = try Self.decide(Self.old.replacing("second", with: "fullTime"), isFinal: true)
        #expect(end.outcome == .end && end.rule == 1 && end.request?.event == .end)
        #expect(end.request?.alert?.description == #"{"title":"Full time"}"#)
        let same = try Self.decide(Self.old, isFinal: true)
        #expect(same.outcome == .end && same.request?.event == .end)
        #expect(try Self.decide(Self.old, isFinal: true, isOver: true).outcome == .unchanged)
    }

    @Test func `a sequence that is not higher than the last is refused, unless the content is the same`() throws {
        #expect(throws: Problem.self) { try Self.decide(Self.goal, sequence: 4, last: 5) }
        #expect(throws: Problem.self) { try Self.decide(Self.old, sequence: 4, last: 5) }
        #expect(throws: Problem.self) { try Self.decide(Self.goal, sequence: 5, last: 5) }
        #expect(try Self.decide(Self.old, sequence: 5, last: 5).outcome == .unchanged)
        #expect(try Self.decide(Self.old, sequence: 6, last: 5).stateProgress.sequence == 6)
    }

    @Test func `a feed that counts anew goes on with a higher epoch, and the refusal says so`() throws {
        let refused = #expect(throws: Problem.self) { try Self.decide(Self.goal, sequence: 1, last: 900, lastEpoch: 3) }
        #expect(refused?.detail.contains("send a sequenceEpoch above 3") == true)
        let anew = try Self.decide(Self.goal, sequence: 1, epoch: 4, last: 900, lastEpoch: 3)
        #expect(anew.outcome == .rings && anew.stateProgress == .init(sequence: 1, epoch: 4))
        #expect(try Self.decide(Self.goal, sequence: 2, last: 1, lastEpoch: 4).stateProgress.epoch == 4)
        #expect(throws: Problem.self) { try Self.decide(Self.goal, sequence: 901, epoch: 3, last: 1, lastEpoch: 4) }
    }
}
