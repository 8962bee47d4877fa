internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract
internal import JSON

extension Contract.BroadcastBatch {
    static let maximumBytes = 4 * 1024 * 1024

    /// The shape of the body of `POST /v1/broadcasts` without that of its items.
    private static let envelope = RequestShape.object(
        [.init("items", isRequired: true, .array(.any, 1...500, isUnique: false))], excluding: [])

    /// Reads the items in their order, each by itself. The problem of a refused item has pointers from the root of the
    /// body.
    ///
    /// - Throws: a problem with the whole body.
    static func items(
        of body: JSONValue, _ caller: APIKey, at now: Date
    ) throws(Problem) -> [Result<Intake, Problem>] {
        try envelope.read(body) { _ throws(Problem) in }
        return (body["items"]?.elements ?? []).enumerated().map { index, element in
            Result { () throws(Problem) in
                try Contract.BroadcastDraft.read(
                    element, as: Contract.BroadcastItem.shape, at: "/items/\(index)"
                ) { draft, faults throws(Problem) in
                    let key = try EventKey(allowed: element["eventKey"]?.string ?? "")
                    return Intake(.event(key), try BroadcastRequest(draft, &faults), caller, at: now)
                }
            }
        }
    }
}

extension Contract.BroadcastBatchResult {
    /// The result of each item of a batch, in the same order.
    init(_ results: [Result<Contract.Broadcast, Problem>], requestID: String) {
        self.init(
            items: results.map { result in
                switch result {
                case .success(let broadcast): .accepted(broadcast)
                case .failure(let problem): .refused(.init(problem: problem.body(named: requestID)))
                }
            })
    }
}

extension Problem {
    /// The same problem of one item, with pointers from the root of the batch's body.
    func within(_ pointer: String) -> Problem {
        var problem = self
        problem.errors = errors.map { FieldError(pointer: pointer + $0.pointer, detail: $0.detail) }
        return problem
    }
}
