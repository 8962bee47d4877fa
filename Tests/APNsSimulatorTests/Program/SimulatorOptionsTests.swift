internal import APNsWire
internal import Testing

@testable internal import APNsSimulator

struct SimulatorOptionsTests {
    @Test func `a team option is for all keys or for one, and its last value counts`() throws {
        var options = SimulatorOptions(directory: "x")
        try options.setTeams(["A=T1", "T2", "B=T3", "A=T4"])
        #expect(options.teams == ["A": "T4", "B": "T3", "": "T2"])
        for mistake in ["", "=T", "A=", "="] {
            #expect(throws: SimulatorError.self, "\(mistake)") { try options.setTeams([mistake]) }
        }
    }

    @Test func `scopes of keys are parsed, and mistakes are refused`() throws {
        let scopes = try KeyScope.list(parsing: ["A=development", "B=production:com.A,com.b", "C=:com.c"])
        #expect(scopes["A"]?.environment == .development)
        #expect(scopes["A"]?.topics == nil)
        #expect(scopes["B"]?.topics == ["com.a", "com.b"])
        #expect(scopes["C"]?.environment == nil)
        for mistake in ["A", "A=staging", "A=production:", "A=production:x,,y"] {
            #expect(throws: SimulatorError.self, "\(mistake)") { try KeyScope.list(parsing: [mistake]) }
        }
    }

    @Test(arguments: [(-1, false), (0, true), (65_534, true), (65_535, false)])
    func `invalid ports are refused`(port: Int, isValid: Bool) {
        var options = SimulatorOptions(directory: "x")
        options.port = port
        #expect(((try? options.validate()) != nil) == isValid)
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("simulator", "simulator"),
    ])
    func `printed addresses can be connected to`(host: String, reachable: String) {
        let addresses = SimulatorAddresses(
            host: SimulatorAddresses.reachable(host), developmentPort: 1, productionPort: 2, caFile: "d/ca.pem",
            keyFile: "d/k.p8")
        #expect(addresses.url(.production) == "https://\(reachable):2")
        #expect(addresses.description.hasPrefix("listening development=https://\(reachable):1 "))
    }
}
