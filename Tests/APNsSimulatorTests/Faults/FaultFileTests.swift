internal import APNsWire
internal import JSON
internal import Testing

@testable internal import APNsSimulator

struct FaultFileTests {
    @Test func `every action is read, and written in the same form`() throws {
        let script = #"""
            {"seed": 7, "faults": [
              {"name": "a", "match": {"operation": "broadcast", "nth": 3}, "action": "refuse", "reason": "TooManyRequests", "retryAfter": 2},
              {"action": "refuse", "reason": "Strange", "status": 418, "times": 1},
              {"match": {"environment": "production", "rate": 0.25}, "action": "delay", "seconds": 1.5},
              {"action": "delay"},
              {"action": "silence"}, {"action": "lose"}, {"action": "lose", "by": "cut"},
              {"action": "reset", "code": "CANCEL"}, {"action": "reset", "code": 99}, {"action": "refuseStream"},
              {"action": "goAway"}, {"action": "goAway", "manner": "mid", "reason": "IdleTimeout", "code": "INTERNAL_ERROR"},
              {"action": "settings", "maximumStreams": 1}, {"action": "cut"}, {"action": "slowReads", "seconds": 0.5},
              {"action": "reorder"}, {"action": "capabilityOff"}, {"action": "vanish"}, {"action": "quota", "channels": 2},
              {"match": {"environment": "development", "every": 2}, "action": "tls", "failure": "certificate"}
            ]}
            """#
        let file = try FaultFile(Array(script.utf8), at: "script")
        #expect(file.seed == 7)
        #expect(
            file.faults.map(\.action) == [
                .refuse(reason: "TooManyRequests", status: 429, retryAfter: 2),
                .refuse(reason: "Strange", status: 418, retryAfter: nil), .delay(seconds: 1.5),
                .delay(seconds: nil), .silence,
                .lose(.silence), .lose(.cut), .reset(code: 8), .reset(code: 99), .refuseStream,
                .goAway(.clean, reason: "Shutdown", code: 0), .goAway(.mid, reason: "IdleTimeout", code: 2),
                .settings(maximumStreams: 1), .cut, .slowReads(seconds: 0.5), .reorder, .capabilityOff, .vanish,
                .quota(2), .tls(.certificate),
            ])
        #expect(Set(file.faults.map(\.action.name)) == Set(FaultAction.Name.allCases))
        #expect(file.faults[0].match == FaultMatch(operation: .broadcast, nth: 3))
        #expect(file.faults[1].times == 1)
        let text = String(decoding: JSONWriter.text { file.faults[2].write(members: &$0) }, as: UTF8.self)
        #expect(
            text
                == #"{"name":"","match":{"environment":"production","rate":0.25},"action":"delay","seconds":1.5,"seen":0,"acted":0}"#
        )
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
            try FaultFile(Array(script.utf8), at: "script")
        } throws: { error in
            let text = "\(error)"
            return text.contains(complaint) && text.hasPrefix("script") && !text.contains("\n")
        }
    }
}
