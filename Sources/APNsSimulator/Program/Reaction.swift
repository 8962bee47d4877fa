internal import APNsWire

/// The reaction to a request, on its stream, its connection or other connections.
struct Reaction: Sendable {
    enum Step: Sendable {
        case respond(SimulatorAnswer)
        case reset(code: UInt32)
        case effect(ConnectionEffect)
        /// A GOAWAY that says that this request was not processed.
        case goAwayBefore(reason: String, code: UInt32)
        /// Every connection of the environment gets GOAWAY.
        case goAwayOnAllConnections(APNsEnvironment, reason: String, code: UInt32)
        case pauseReading(seconds: Double)
        case cut
    }

    /// The steps to perform at once.
    var steps: [Step] = []
    /// The steps to perform after `delay` seconds; without `delay`, when the fault is removed.
    var later: [Step] = []
    var delay: Double?
    var fate = JournalEntry.Fate.answered

    private init() {}

    /// Sends the answer, with its effects on the connection.
    init(_ answer: SimulatorAnswer) {
        steps.reserveCapacity(answer.effects.count + 1)
        for effect in answer.effects { steps.append(.effect(effect)) }
        steps.append(.respond(answer))
    }

    /// The reaction to a request on which a fault acts.
    ///
    /// - Parameter answer: APNs' answer; `nil`: the fault prevented the processing.
    init(_ answer: SimulatorAnswer?, _ action: FaultAction, environment: APNsEnvironment) {
        self.init()
        if let answer { self = Reaction(answer) } else { fate = .unprocessed }
        switch action {
        case .refuse: fate = .answered
        case .delay(let seconds):
            later = steps
            steps = []
            delay = seconds
            fate = .held
        case .silence: break
        case .lose(let loss):
            fate = .dropped
            steps =
                switch loss {
                case .silence: []
                case .reset: [.reset(code: 2)]
                case .cut: [.cut]
                }
        case .reset(let code): steps = [.reset(code: code)]
        case .refuseStream: steps = [.reset(code: 7)]
        case .goAway(.clean, let reason, let code): steps.append(.effect(.goAway(reason: reason, code: code)))
        case .goAway(.mid, let reason, let code): steps = [.goAwayBefore(reason: reason, code: code)]
        case .goAway(.rolling, let reason, let code):
            steps.append(.goAwayOnAllConnections(environment, reason: reason, code: code))
        case .settings(let streams): steps.append(.effect(.maximumStreams(streams)))
        case .cut: steps = [.cut]
        case .slowReads(let seconds): steps.append(.pauseReading(seconds: seconds))
        case .reorder, .capabilityOff, .vanish, .quota, .tls: break
        }
    }
}
