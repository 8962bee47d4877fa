internal import ArgumentParser
internal import Grandstand
internal import GrandstandServer
internal import JSON
internal import Testing

@testable internal import GrandstandCommand

/// The table of verbs, and `call`.
struct VerbTests {
    @Test func `every verb shows help with all of its inputs`() {
        for noun in Noun.table {
            for verb in noun.verbs {
                let words = (noun.name == verb.name ? [] : [noun.name]) + [verb.name, "--help"]
                let text = Self.refusal(of: words).text
                #expect(!verb.abstract.isEmpty && verb.inputs.allSatisfy { text.contains($0.name) }, "\(words)")
            }
        }
    }

    @Test func `every operation has a summary and help for each parameter of its path and query`() {
        for operation in Contract.Operation.all {
            let guide = OperationGuide(operation)
            let names = guide.parameters.filter { $0.place != "header" && !$0.text.isEmpty }.map(\.name)
            let path = operation.path.matches(of: /\{(\w+)\}/).map { String($0.output.1) }
            #expect(Set(names) == Set(path + operation.query) && !guide.summary.isEmpty, "\(operation.id)")
        }
    }

    @Test(arguments: [
        "call nope": "There is no operation nope.", "call": "Name an operation", "call getEvent": "key is missing.",
        "call getEvent key=a b=c": "has no parameter b", "call getEvent key=a key=b": "key is given twice.",
        "call getEvent key=a {}": "takes no body", "call putEvent key=a {} -": "two bodies",
        "call getEvent derby": "neither NAME=VALUE nor a body", "event list --from tomorrow": "'--from <from>'",
        "keys create --name a --scope nope": "--scope nope: one of",
        "keys create --name a": "--scope",
        "event put derby --audience a:b": "BUNDLE:ENVIRONMENT:POLICY", "app put a.b --override x": "--override x",
        "webhook create https://a.example --topic nope": "broadcast.settled",
        "season sync plan.json": "'sync' is invalid",
    ])
    func `wrong usage is refused before anything is asked`(command: String, fault: String) {
        let refusal = Self.refusal(of: command.split(separator: " ").map(String.init))
        #expect(refusal.code == .validationFailure && refusal.text.contains(fault), "\(refusal.text)")
    }

    private static func refusal(of words: [String]) -> (text: String, code: ExitCode?) {
        do {
            var command = try GrandstandTool.parseAsRoot(words)
            // A request for help is a command, too.
            if words.last == "--help" { try command.run() }
            return ("", nil)
        } catch {
            return (GrandstandTool.fullMessage(for: error), GrandstandTool.exitCode(for: error))
        }
    }
}

/// What the command line prints of other people's texts.
struct AnswerTableTests {
    @Test func `control characters in an answer are escaped`() throws {
        let answer = try JSONValue(parsing: Array(#"{"items": [{"name": "a\u001b[2J\nb"}]}"#.utf8))
        #expect(AnswerTable(answer, columns: ["name"]).text == "name\n" + #"a\u001b[2J\u000ab"#)
    }
}
