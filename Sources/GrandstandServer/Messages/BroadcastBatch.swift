internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The body of `POST /v1/broadcasts`. Each item is read, and accepted or refused, by itself.
struct BroadcastBatch: Sendable {
    /// The items in their order. The problem of a refused item has pointers from the root of the body.
    let items: [Result<Intake, Problem>]

    static let maximumBytes = 4 * 1024 * 1024

    /// The shape of the body without that of its items.
    private static let shape = RequestShape.object(
        [.init("items", isRequired: true, .array(.any, 1...500, isUnique: false))], excluding: [])

    /// - Throws: a problem with the whole body. Problems of one item are in `items`.
    init(body: JSONValue, _ caller: Caller) throws(Problem) {
        try Self.shape.read(body) { _ throws(Problem) in }
        items = (body["items"]?.elements ?? []).enumerated().map { index, element in
            Result { () throws(Problem) in
                try Contract.BroadcastDraft.read(
                    element, as: Contract.BroadcastItem.shape, at: "/items/\(index)"
                ) { draft, faults throws(Problem) in
                    let key = try EventKey(allowed: element["eventKey"]?.string ?? "")
                    return Intake(.event(key), .broadcast(try BroadcastRequest(draft, &faults)), caller)
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
                case .failure(let problem): .refused(.init(problem: Contract.Problem(problem, requestID: requestID)))
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
