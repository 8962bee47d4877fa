internal import Grandstand
internal import GrandstandContract
internal import JSON

/// The body of `POST /v1/broadcasts`: items that are read, accepted or refused each on its own.
struct BroadcastBatch: Sendable {
    /// In the order they came; a refused one says where it is wrong, from the root of the body.
    let items: [Result<BroadcastIntake, Problem>]

    static let maximumBytes = 4 * 1024 * 1024

    /// - Throws: when it is no batch at all; what is wrong within an item stays with the item.
    init(body: JSONValue, by actor: AuditActor) throws(Problem) {
        try Contract.BroadcastBatch.check(body)
        items = (body["items"]?.elements ?? []).enumerated().map { index, element in
            Result { () throws(Problem) in
                try Contract.BroadcastItem.read(element, at: "/items/\(index)") { item, faults throws(Problem) in
                    BroadcastIntake(
                        eventKey: try EventKey(allowed: item.eventKey),
                        request: try BroadcastRequest(item.draft, &faults), by: actor)
                }
            }
        }
    }
}

/// What became of a batch, in its order.
struct BroadcastBatchView: JSONObjectWritable {
    let results: [Result<Broadcast, Problem>]
    let requestID: String

    func write(members object: inout JSONWriter) {
        object.array("items", results) { writer, result in
            switch result {
            case .success(let broadcast): broadcast.write(to: &writer)
            case .failure(let problem):
                writer.object { item in
                    item.name("problem")
                    problem.write(to: &item, requestID: requestID)
                }
            }
        }
    }
}

extension Problem {
    /// The same, its places told from the root of a body of which it concerns one item.
    func within(_ pointer: String) -> Problem {
        var problem = self
        problem.errors = errors.map { FieldError(pointer: pointer + $0.pointer, detail: $0.detail) }
        return problem
    }
}
