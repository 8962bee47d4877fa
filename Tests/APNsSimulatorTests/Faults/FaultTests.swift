internal import JSON
internal import Testing

@testable internal import APNsSimulator

struct FaultTests {
    /// A fault, and what is written of it if that is something else.
    @Test(arguments: [
        (
            #""name":"a","match":{"operation":"broadcast","nth":3},"action":"refuse","reason":"TooManyRequests","retryAfter":2"#,
            #""name":"a","match":{"operation":"broadcast","nth":3},"action":"refuse","reason":"TooManyRequests","status":429,"retryAfter":2"#
        ),
        (#""name":"","match":{},"action":"refuse","reason":"Strange","status":418,"times":1"#, nil),
        (#""name":"","match":{"environment":"production","rate":0.25},"action":"delay","seconds":1.5"#, nil),
        (#""action":"delay""#, #""name":"","match":{},"action":"delay""#),
        (#""action":"silence""#, #""name":"","match":{},"action":"silence""#),
        (#""action":"lose""#, #""name":"","match":{},"action":"lose","by":"silence""#),
        (#""action":"lose","by":"cut""#, #""name":"","match":{},"action":"lose","by":"cut""#),
        (#""action":"reset","code":8"#, #""name":"","match":{},"action":"reset","code":"CANCEL""#),
        (#""action":"reset""#, #""name":"","match":{},"action":"reset","code":"INTERNAL_ERROR""#),
        (#""action":"refuseStream""#, #""name":"","match":{},"action":"refuseStream""#),
        (
            #""action":"goAway""#,
            #""name":"","match":{},"action":"goAway","manner":"clean","reason":"Shutdown","code":"NO_ERROR""#
        ),
        (#""name":"","match":{},"action":"goAway","manner":"mid","reason":"IdleTimeout","code":"CANCEL""#, nil),
        (#""name":"","match":{},"action":"settings","maximumStreams":1"#, nil),
        (#""name":"","match":{},"action":"cut""#, nil),
        (#""name":"","match":{},"action":"slowReads","seconds":0.5"#, nil),
        (#""name":"","match":{},"action":"reorder""#, nil), (#""name":"","match":{},"action":"capabilityOff""#, nil),
        (#""name":"","match":{},"action":"vanish""#, nil),
        (#""name":"","match":{},"action":"quota","channels":2"#, nil),
        (
            #""name":"","match":{"environment":"development","every":2},"action":"tls","failure":"certificate""#, nil
        ),
    ])
    func `every action is read, and written in the same form with its defaults`(text: String, written: String?) throws {
        let script = try Self.read(#"{"seed": 7, "faults": [{\#(text)}]}"#)
        #expect(script.seed == 7)
        let fault = try #require(script.faults?.first)
        #expect(
            String(decoding: JSONWriter.text(fault), as: UTF8.self) == #"{\#(written ?? text),"seen":0,"acted":0}"#)
    }

    @Test(arguments: [
        (#"{"#, "is not JSON"), (#"{"fault": []}"#, "\"fault\" is unknown"),
        (#"{"faults": [{}]}"#, "faults[0].action: missing"),
        (#"{"faults": [{"action": "explode"}]}"#, "\"explode\" is not one of"),
        (#"{"faults": [{"action": "silence", "seconds": 1}]}"#, "\"seconds\" is unknown"),
        (#"{"faults": [{"action": "silence", "action": "cut"}]}"#, "occurs twice"),
        (#"{"faults": [{"action": "delay", "seconds": "1"}]}"#, "faults[0].seconds"),
        (#"{"faults": [{"action": "delay", "seconds": 99999}]}"#, "to 3600"),
        (#"{"faults": [{"action": "refuse", "reason": "Strange"}]}"#, "Apple does not document the reason"),
        (#"{"faults": [{"action": "reset", "code": "OOPS"}]}"#, "not an error code of RFC 9113"),
        (#"{"faults": [{"action": "silence", "times": 0}]}"#, "faults[0].times"),
        (#"{"faults": [{"action": "silence", "match": {"rate": 1.5}}]}"#, "faults[0].match.rate"),
        (#"{"faults": [{"action": "tls", "match": {"path": "/"}}]}"#, "faults[0].match: tls has only"),
    ])
    func `an error names the place of the mistake`(script: String, complaint: String) {
        #expect {
            try Self.read(script)
        } throws: { error in
            let text = "\(error)"
            return text.contains(complaint) && text.hasPrefix("script") && !text.contains("\n")
        }
    }

    private static func read(_ script: String) throws -> FaultBook.Script {
        try JSONValue(Array(script.utf8), at: "script").read(at: "script")
    }
}
