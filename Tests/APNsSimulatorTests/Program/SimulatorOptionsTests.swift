internal import APNsWire
internal import Testing

@testable internal import APNsSimulator

struct SimulatorOptionsTests {
    @Test func `a team option is for all keys or for one, and its last value counts`() throws {
        let teams = try KeyTeams(parsing: ["A=T1", "T2", "B=T3", "A=T4"])
        #expect(teams["A"] == "T4")
        #expect(teams["B"] == "T3")
        #expect(teams["C"] == "T2")
        #expect(try KeyTeams(parsing: [])["C"] == "SIMULATOR1")
    }

    @Test(arguments: ["", "=T", "A=", "="])
    func `invalid teams are refused`(text: String) {
        #expect(throws: SimulatorError.self) { try KeyTeams(parsing: [text]) }
    }

    @Test(arguments: [(-1, false), (0, true), (65_534, true), (65_535, false)])
    func `invalid ports are refused`(port: Int, isValid: Bool) {
        var options = SimulatorOptions(directory: "x")
        options.port = port
        #expect(((try? options.validate()) != nil) == isValid)
    }

    @Test(arguments: [
        ("127.0.0.1", "https://127.0.0.1:2"), ("0.0.0.0", "https://127.0.0.1:2"), ("::", "https://[::1]:2"),
        ("simulator", "https://simulator:2"),
    ])
    func `printed addresses can be connected to`(host: String, url: String) {
        let addresses = SimulatorAddresses(
            host: SimulatorAddresses.reachable(host), developmentPort: 1, productionPort: 2, caFile: "d/ca.pem",
            keyFile: "d/k.p8")
        #expect(addresses.url(.production) == url)
        #expect(addresses.description.hasPrefix("listening development="))
    }
}
