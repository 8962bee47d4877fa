internal import APNsWire
internal import FoundationEssentials

/// The compact form of an entry in the journal. All its texts are in one array instead of a dozen strings, because
/// thousands of entries a second are created and dropped.
struct JournalRecord: Sendable {
    private let number: Int
    private let time: Date
    private let environment: APNsEnvironment
    private let service: HostService
    private let connection: Int
    private let bodyIsCut: Bool
    private let operation: Route.Operation?
    private let status: Int
    private let reason: APNsReason?
    private let fate: JournalEntry.Fate
    private let fault: String?
    private let body: [UInt8]
    /// Method, path, the answer's ID, and the names and values of the headers. The length of each text precedes it in
    /// four bytes.
    private let texts: [UInt8]

    /// The approximate size in bytes.
    var size: Int { MemoryLayout<Self>.size + texts.count + body.count + 64 }

    init(_ entry: JournalEntry) {
        let request = entry.request
        number = entry.number
        time = entry.time
        environment = request.environment
        service = request.service
        connection = request.connection
        bodyIsCut = request.bodyIsCut
        operation = entry.operation
        status = entry.status
        reason = entry.reason
        fate = entry.fate
        fault = entry.fault
        body = request.body
        var texts: [UInt8] = []
        texts.reserveCapacity(
            request.headers.reduce(
                12 + request.method.utf8.count + request.path.utf8.count + entry.requestID.utf8.count
            ) { $0 + 8 + $1.name.utf8.count + $1.value.utf8.count })
        Self.append(request.method, to: &texts)
        Self.append(request.path, to: &texts)
        Self.append(entry.requestID, to: &texts)
        for header in request.headers {
            Self.append(header.name, to: &texts)
            Self.append(header.value, to: &texts)
        }
        self.texts = texts
    }

    /// The entry in its original form.
    var entry: JournalEntry {
        var rest = texts[...]
        let (method, path, requestID) = (Self.next(&rest), Self.next(&rest), Self.next(&rest))
        var headers: [SimulatorRequest.Header] = []
        while !rest.isEmpty { headers.append(.init(Self.next(&rest), Self.next(&rest))) }
        return JournalEntry(
            number: number, time: time,
            request: SimulatorRequest(
                environment: environment, service: service, connection: connection, method: method, path: path,
                headers: headers, body: body, bodyIsCut: bodyIsCut),
            operation: operation, status: status, reason: reason, requestID: requestID, fate: fate, fault: fault)
    }

    private static func append(_ text: String, to texts: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: text.utf8.count)) { texts.append(contentsOf: $0) }
        texts.append(contentsOf: text.utf8)
    }

    private static func next(_ rest: inout ArraySlice<UInt8>) -> String {
        let count = Int(rest.prefix(4).withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
        defer { rest = rest.dropFirst(4 + count) }
        return String(decoding: rest.dropFirst(4).prefix(count), as: UTF8.self)
    }
}
