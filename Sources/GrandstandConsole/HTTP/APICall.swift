internal import Grandstand
internal import JSON

/// One call of the API, made by the key that is signed in.
package struct APICall: Sendable {
    /// `POST`
    package var method: String
    /// With its query: `/v1/keys?limit=50`.
    package var path: String
    /// `nil`: there is none.
    package var body: [UInt8]?
    package var contentType: String
    /// Carries a POST out once. An action's is filled in by `Submission.call`.
    package var idempotencyKey: String?
    package var ifMatch: String?
    /// `*`: what a PUT makes must not be there yet.
    package var ifNoneMatch: String?
    /// What the answer shall be; `nil`: what the API chooses.
    package var accept: String?

    package init(
        _ method: String, _ path: String, body: [UInt8]? = nil, contentType: String = "application/json",
        idempotencyKey: String? = nil, ifMatch: String? = nil, ifNoneMatch: String? = nil, accept: String? = nil
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.contentType = contentType
        self.idempotencyKey = idempotencyKey
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.accept = accept
    }
}

/// What the API answered.
package struct APIAnswer: Sendable {
    package var status: Int
    package var body: [UInt8]
    package var etag: String?
    /// Why it was refused; `nil` for 2xx.
    package var problem: APIProblem?

    package init(status: Int, body: [UInt8] = [], etag: String? = nil, problem: APIProblem? = nil) {
        self.status = status
        self.body = body
        self.etag = etag
        self.problem = problem
    }

    /// The answer, if it is 2xx.
    ///
    /// - Throws: `APIProblem`, which an action need not catch: it is shown in the API's words, with the form again.
    func accepted() throws(APIProblem) -> APIAnswer {
        if let problem { throw problem }
        return self
    }

    /// - Throws: `malformed-json`, for a body that is none.
    func json() throws(Problem) -> JSONValue { try JSONValue(parsing: body, maximumValues: .max) }
}

/// A refusal in the API's own words, or of the console in the same shape.
package struct APIProblem: Error, Sendable, Hashable {
    /// A field of the request, and what is wrong with it.
    package struct Fault: Sendable, Hashable {
        package var pointer: String
        package var detail: String

        package init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }
    }

    package var status: Int
    package var title: String
    package var detail: String
    package var faults: [Fault]
    /// Seconds after which the same may be taken.
    package var retryAfter: Int?

    package init(status: Int, title: String, detail: String, faults: [Fault] = [], retryAfter: Int? = nil) {
        self.status = status
        self.title = title
        self.detail = detail
        self.faults = faults
        self.retryAfter = retryAfter
    }

    /// - Returns: `nil` for an error that is nobody's fault.
    init?(_ error: any Error) {
        switch error {
        case let refused as APIProblem: self = refused.inWords
        case let problem as Problem where problem.kind != .internalError:
            self.init(
                status: problem.status,
                title: problem.kind == .notFound ? "No such page" : problem.kind.title, detail: problem.detail,
                faults: problem.errors.map { Fault(pointer: $0.pointer, detail: $0.detail) },
                retryAfter: problem.retryAfter)
        default: return nil
        }
    }

    /// A condition that did not hold (412), without the headers of which the API speaks.
    var inWords: APIProblem {
        guard status == 412 else { return self }
        return detail == WriteCondition.taken.detail
            ? APIProblem(
                status: status, title: "There is one already",
                detail:
                    "There is one of this name already. Choose another name, or change the one there is on its page.")
            : APIProblem(
                status: status, title: "It was changed meanwhile",
                detail:
                    "It was changed or deleted since its page was made, so nothing was sent. Its page, opened again, "
                    + "shows what is there now.")
    }

    /// Reads a body of `application/problem+json`; what is not there is empty.
    package init(status: Int, body: [UInt8]) {
        let json = try? JSONValue(parsing: body, maximumValues: .max)
        self.init(
            status: status, title: json?["title"]?.string ?? "The API refused this",
            detail: json?["detail"]?.string ?? "It answered \(status) and said no more.",
            faults: (json?["errors"]?.elements ?? []).map { error in
                Fault(pointer: error["pointer"]?.string ?? "", detail: error["detail"]?.string ?? "")
            })
    }
}
