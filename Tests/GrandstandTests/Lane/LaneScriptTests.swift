internal import Testing

/// The rules of a lane, as short histories.
struct LaneScriptTests {
    @Test(arguments: LaneScript.all) func `each short history leaves its log`(_ script: LaneScript) throws {
        #expect(try script.play() == script.log)
    }

    @Test func `one message per interval never falls behind, even if claims are late`() throws {
        // Twice as many messages are accepted as may be sent. Claims are 5 ms late.
        var steps: [LaneScript.Step] = [.update, .send]
        for _ in 0..<300 { steps += [.wait(0.495), .update, .wait(0.5), .update, .wait(0.005), .send] }
        let numbers = (0...300).map { "\(2 * $0 + 1)" }
        #expect(try LaneScript(every: 1, steps, "").play() == numbers.joined(separator: ", "))
    }
}
