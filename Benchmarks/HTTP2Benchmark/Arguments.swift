/// What to measure, from the command line.
struct Arguments {
    static let usage = """
        usage: HTTP2Benchmark HOST PORT CA-FILE CONNECTIONS IN-FLIGHT REQUESTS
          IN-FLIGHT   requests at once on each connection
          REQUESTS    in all, after a tenth as many to warm up
        """

    var host: String
    var port: Int
    var authority: String
    var connections: Int
    var inFlight: Int
    var requests: Int

    init?(_ arguments: [String]) {
        guard arguments.count == 6 else { return nil }
        let numbers = [arguments[1], arguments[3], arguments[4], arguments[5]].compactMap(Int.init)
        guard numbers.count == 4, numbers.allSatisfy({ $0 > 0 }) else { return nil }
        host = arguments[0]
        port = numbers[0]
        authority = arguments[2]
        connections = numbers[1]
        inFlight = numbers[2]
        requests = numbers[3]
    }
}
