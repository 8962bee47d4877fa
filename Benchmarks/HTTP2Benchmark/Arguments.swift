/// What to measure, from the command line.
struct Arguments {
    static let usage = """
        usage: HTTP2Benchmark HOST PORT CA-FILE CONNECTIONS IN-FLIGHT REQUESTS [pool|loop]
          IN-FLIGHT   requests at once on each connection
          REQUESTS    in all, after a tenth as many to warm up
          pool        callers on Swift's global pool (the default)
          loop        callers on their connection's event loop
        """

    var host: String
    var port: Int
    var authority: String
    var connections: Int
    var inFlight: Int
    var requests: Int
    var onTheLoop: Bool

    init?(_ arguments: [String]) {
        guard arguments.count == 6 || arguments.count == 7 else { return nil }
        let numbers = [arguments[1], arguments[3], arguments[4], arguments[5]].compactMap(Int.init)
        guard numbers.count == 4, numbers.allSatisfy({ $0 > 0 }) else { return nil }
        host = arguments[0]
        port = numbers[0]
        authority = arguments[2]
        connections = numbers[1]
        inFlight = numbers[2]
        requests = numbers[3]
        switch arguments.count == 7 ? arguments[6] : "pool" {
        case "pool": onTheLoop = false
        case "loop": onTheLoop = true
        default: return nil
        }
    }
}
